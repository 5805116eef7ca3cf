// title: Load scores
// answers: Creates scores beside the answers that they are of.
// parameters: run, rows
// columns:
UNWIND $rows AS row
CREATE (s:Score {run: $run, question: row.question, measure: row.measure, value: row.value, reason: row.reason,
  label: row.label, explanation: row.explanation, cost: row.cost, prompt_tokens: row.prompt_tokens,
  output_tokens: row.output_tokens})
WITH s
MATCH (a:Answer {run: $run, question: s.question})
CREATE (a)-[:SCORED]->(s)
