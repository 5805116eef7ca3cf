// title: Known questions
// answers: Which of these questions does a dataset hold, and in which form?
// parameters: dataset, ids
// columns: id, digest
UNWIND $ids AS id
MATCH (q:Question {dataset: $dataset, id: id})
RETURN q.id AS id, q.digest AS digest
