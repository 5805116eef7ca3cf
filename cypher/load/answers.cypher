// title: Load answers
// answers: Creates the answers of a run.
// parameters: rows, run
// columns:
MATCH (r:Run {id: $run})
UNWIND $rows AS row
WITH r, row
MATCH (q:Question {dataset: r.dataset, id: row.question})
CREATE (r)-[:PRODUCED]->(a:Answer)-[:ANSWERS]->(q)
SET a = row.properties
