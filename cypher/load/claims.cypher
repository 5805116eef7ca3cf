// title: Load claims
// answers: Creates the claims of answers, each with its traversed edge; each row holds those of one question.
// parameters: run, rows
// columns:
UNWIND $rows AS row
OPTIONAL MATCH (a:Answer {run: $run, question: row.question})
UNWIND row.claims AS one
CREATE (c:Claim)
SET c = one
FOREACH (x IN CASE WHEN a IS NULL THEN [] ELSE [a] END | CREATE (x)-[:CLAIMS]->(c))
