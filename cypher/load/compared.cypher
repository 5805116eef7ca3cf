// title: Load comparisons of answers
// answers: Links answers of two runs to the same questions by what a judge's comparisons are worth; each row is one of a criterion.
// parameters: first, second, judge, model, version, differential, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $first, question: row.question})
MATCH (b:Answer {run: $second, question: row.question})
CREATE (a)-[:COMPARED {judge: $judge, model: $model, version: $version, criterion: row.criterion,
  differential: $differential, value: row.value, ahead: row.ahead, behind: row.behind, reason: row.reason,
  comparisons: row.comparisons, failed: row.failed, explanations: row.explanations}]->(b)
