// title: Load verdicts
// answers: Creates verdicts beside the answers that they are of; each row holds those of one question.
// parameters: run, rows
// columns:
UNWIND $rows AS row
OPTIONAL MATCH (a:Answer {run: $run, question: row.question})
UNWIND row.verdicts AS one
CREATE (v:Verdict)
SET v = one
FOREACH (x IN CASE WHEN a IS NULL THEN [] ELSE [a] END | CREATE (x)-[:JUDGED]->(v))
