// title: Forbidden attempts
// answers: Which answers contain code that attempts what the sandbox doesn't allow: what does it attempt, in which tests, and how did these end?
// order: 83
// parameters: run, question = null, limit = 20
// columns: question, attempt, tests, statuses, mechanism
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
MATCH (a:Answer {run: $run, question: q.id})-[:EXECUTED]->(e:Execution)-[:RAN]->(t:CodeTestResult)
UNWIND t.attempts AS attempt
WITH DISTINCT q, e, attempt
RETURN q.id AS question, attempt, COLLECT {
    MATCH (e)-[:RAN]->(t:CodeTestResult) WHERE attempt IN t.attempts
    RETURN t.name AS name
    ORDER BY t.position
  } AS tests, COLLECT {
    MATCH (e)-[:RAN]->(t:CodeTestResult) WHERE attempt IN t.attempts
    RETURN DISTINCT t.status AS status
    ORDER BY status
  } AS statuses, e.mechanism AS mechanism
ORDER BY question, attempt
LIMIT $limit
