// title: Failed calls
// answers: Which tool calls ended in an error, with which arguments and result?
// order: 91
// parameters: run, question = null, limit = 20
// columns: question, call, name, arguments, result
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
MATCH (a:Answer {run: $run, question: q.id})-[:CALLED]->(c:ToolCall) WHERE c.failed
RETURN q.id AS question, c.position + 1 AS call, c.name AS name, c.arguments AS arguments,
  c.result AS result
ORDER BY question, call
LIMIT $limit
