// title: Failed executions
// answers: Which answers contain code that fails a test, or no code: how many tests passed, and how did the first failing test end?
// order: 81
// parameters: run, question = null, limit = 20
// columns: question, language, status, passed, total, test, message, line, expected, returned, mechanism
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH r, q WHERE coalesce(q.invalid, '') = ''
MATCH (a:Answer {run: $run, question: q.id})-[:EXECUTED]->(e:Execution) WHERE a.error IS NULL AND e.status <> 'success'
WITH q, e, COLLECT {
  MATCH (e)-[:RAN]->(t:CodeTestResult) WHERE t.status <> 'success'
  RETURN {name: t.name, message: t.message, line: t.line, expected: t.expected, returned: t.returned} AS test
  ORDER BY t.position
}[0] AS failed
RETURN q.id AS question, e.language AS language, e.status AS status, e.passed AS passed, e.total AS total,
  failed.name AS test, failed.message AS message, failed.line AS line, failed.expected AS expected,
  failed.returned AS returned, e.mechanism AS mechanism
ORDER BY question
LIMIT $limit
