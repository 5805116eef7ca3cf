// title: Load given scores
// answers: Creates scores that others gave beside the answers that they are of; each row holds those of one question.
// parameters: run, rows
// columns:
UNWIND $rows AS row
OPTIONAL MATCH (a:Answer {run: $run, question: row.question})
UNWIND row.scores AS one
CREATE (s:Score {run: $run, question: row.question, measure: one.measure, value: one.value, counted: one.counted,
  reason: one.reason, grader: one.grader, grade: one.grade, label: one.label, explanation: one.explanation,
  confidence: one.confidence, cost: one.cost, prompt_tokens: one.prompt_tokens, output_tokens: one.output_tokens,
  gold_hash: one.gold_hash})
FOREACH (x IN CASE WHEN a IS NULL THEN [] ELSE [a] END | CREATE (x)-[:SCORED]->(s))
