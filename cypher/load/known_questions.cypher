// title: Known questions
// answers: Which of these questions does the graph hold, of which dataset, and in which form?
// parameters: ids
// columns: id, dataset, digest
UNWIND $ids AS id
MATCH (q:Question {id: id})
RETURN q.id AS id, q.dataset AS dataset, q.digest AS digest
