// title: Length of the walk
// answers: How many edges were traversed, or how many distinct nodes?
// parameters: dataset, run, questions, counted, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  WITH [p.sources[i], p.relations[i], p.targets[i]] AS edge, p.index AS path, count(*) AS times
  WITH edge, collect([path, times]) AS there
  // What an earlier path has was traversed there.
  RETURN reduce(first = there[0], one IN there | CASE WHEN one[0] < first[0] THEN one ELSE first END)[1] AS times
} AS edges, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.sources + p.targets AS node
  RETURN DISTINCT node
} AS nodes
WITH q, a, edges, nodes, reduce(steps = 0, times IN edges | steps + times) AS steps
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR NOT a.walk_logged THEN null
    WHEN $counted = 'steps' THEN toFloat(steps)
    ELSE toFloat(size(nodes)) END AS value,
  CASE WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged END AS reason
