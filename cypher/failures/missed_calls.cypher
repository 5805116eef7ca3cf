// title: Missed calls
// answers: Which expected tool calls did the run not make, by the name of the tool, and how often did it call the tool?
// order: 92
// parameters: run, question = null, limit = 20
// columns: question, position, name, arguments, called
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
  AND size(q.expected_tools) > 0
// What was called isn't known where the record doesn't say.
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND a.calls_logged
WITH q, COLLECT { MATCH (a)-[:CALLED]->(c:ToolCall) RETURN c.name } AS made
UNWIND range(0, size(q.expected_tools) - 1) AS i
WITH q, i, size([m IN made WHERE m = q.expected_tools[i]]) AS called,
  size([j IN range(0, i) WHERE q.expected_tools[j] = q.expected_tools[i]]) AS wanted
WHERE wanted > called
RETURN q.id AS question, i + 1 AS position, q.expected_tools[i] AS name,
  CASE WHEN q.expected_arguments[i] = '' THEN null ELSE q.expected_arguments[i] END AS arguments, called
ORDER BY question, position
LIMIT $limit
