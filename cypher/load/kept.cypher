// title: Keep questions
// answers: Links a run that is stored in part to the questions that were selected, with or without an answer.
// parameters: run, ids
// columns:
MATCH (r:Run {id: $run})
UNWIND $ids AS id
WITH r, id
MATCH (q:Question {dataset: r.dataset, id: id})
MERGE (r)-[:KEPT]->(q)
