// title: Failed verdicts
// answers: On which answers did a judge give no usable verdict, and why?
// order: 25
// parameters: run, question = null, limit = 20
// columns: question, judge, grader, model, failure, reason, attempts
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
MATCH (a:Answer {run: $run, question: q.id})-[:JUDGED]->(v:Verdict) WHERE v.failure IS NOT NULL
RETURN q.id AS question, v.judge AS judge, v.grader AS grader, v.model AS model, v.failure AS failure,
  v.reason AS reason, v.attempts AS attempts
ORDER BY question, judge, coalesce(model, ''), grader
LIMIT $limit
