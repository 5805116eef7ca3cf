// title: Load citations
// answers: Creates the citations of answers; each row holds those of one question.
// parameters: run, rows
// columns:
UNWIND $rows AS row
OPTIONAL MATCH (a:Answer {run: $run, question: row.question})
UNWIND row.citations AS one
CREATE (c:Citation)
SET c = one
FOREACH (x IN CASE WHEN a IS NULL THEN [] ELSE [a] END | CREATE (x)-[:CITES]->(c))
