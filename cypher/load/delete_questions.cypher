// title: Delete questions
// answers: Deletes questions that a dataset no longer holds.
// parameters: dataset, ids
// columns:
UNWIND $ids AS id
MATCH (q:Question {dataset: $dataset, id: id})
DETACH DELETE q
