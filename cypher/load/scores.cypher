// title: Load scores
// answers: Creates scores beside the answers that they are of; each row holds those of one question. They have no more than a computed score has.
// parameters: run, rows
// columns:
UNWIND $rows AS row
OPTIONAL MATCH (a:Answer {run: $run, question: row.question})
UNWIND row.scores AS one
CREATE (s:Score {run: $run, question: row.question, measure: one.measure, value: one.value, counted: one.counted,
  reason: one.reason, grader: one.grader, gold_hash: one.gold_hash, paths: one.paths, left: one.left, mixed: one.mixed, by_text: one.by_text, text: one.text})
FOREACH (x IN CASE WHEN a IS NULL THEN [] ELSE [a] END | CREATE (x)-[:SCORED]->(s))
