// title: Delete questions
// answers: Deletes questions that a dataset no longer holds.
// parameters: ids
// columns:
UNWIND $ids AS id
MATCH (q:Question {id: id})
DETACH DELETE q
