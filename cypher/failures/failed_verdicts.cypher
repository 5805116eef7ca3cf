// title: Failed verdicts
// answers: On which answers did a judge give no usable verdict, and why?
// order: 25
// parameters: run, question = null, limit = 20
// columns: question, judge, grader, model, failure, reason, attempts
MATCH (r:Run {id: $run})
MATCH (q:Question {dataset: r.dataset}) WHERE $question IS NULL OR q.id = $question
MATCH (a:Answer {run: $run, question: q.id})-[:JUDGED]->(v:Verdict) WHERE v.failure IS NOT NULL
RETURN q.id AS question, v.judge AS judge, v.grader AS grader, v.model AS model, v.failure AS failure,
  v.reason AS reason, v.attempts AS attempts
ORDER BY question, judge, grader
LIMIT $limit
