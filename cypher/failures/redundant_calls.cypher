// title: Redundant calls
// answers: Which tool calls showed ids that earlier calls had already shown, and how many of how many?
// order: 93
// parameters: run, question = null, limit = 20
// columns: question, call, name, arguments, again, shown
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
MATCH (a:Answer {run: $run, question: q.id})-[:CALLED]->(c:ToolCall)-[:SAW]->(n:Artifact) WHERE a.error IS NULL
WITH q, a, n.id AS id, collect(DISTINCT c.position) AS positions
UNWIND positions AS position
WITH q, a, position, CASE WHEN any(p IN positions WHERE p < position) THEN 1 ELSE 0 END AS again
WITH q, a, position, count(*) AS shown, sum(again) AS again
WHERE again > 0
MATCH (a)-[:CALLED]->(c:ToolCall) WHERE c.position = position
RETURN q.id AS question, position + 1 AS call, c.name AS name, c.arguments AS arguments, again, shown
ORDER BY again DESC, question, call
LIMIT $limit
