// title: Edge precision
// answers: Which share of the distinct traversed edges is in any gold path? With $boundary over edges between repositories only.
// parameters: dataset, run, questions, relation, unstated, directed, boundary, unscored, untraversed, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  WITH p, i WHERE NOT $boundary OR p.crosses[i]
  RETURN DISTINCT [CASE WHEN $directed OR p.sources[i] <= p.targets[i] THEN p.sources[i] ELSE p.targets[i] END,
    CASE WHEN NOT $relation THEN '' WHEN p.relations[i] = '' THEN $unstated ELSE p.relations[i] END,
    CASE WHEN $directed OR p.sources[i] <= p.targets[i] THEN p.targets[i] ELSE p.sources[i] END]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  WITH g, i WHERE NOT $boundary OR g.crosses[i]
  RETURN DISTINCT [CASE WHEN $directed OR g.sources[i] <= g.targets[i] THEN g.sources[i] ELSE g.targets[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR g.sources[i] <= g.targets[i] THEN g.targets[i] ELSE g.sources[i] END]
} AS gold
WITH q, a, gold, walked, [w IN walked WHERE any(e IN gold
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS right
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(gold) = 0 OR size(walked) = 0 THEN null
    ELSE toFloat(size(right)) / size(walked) END AS value,
  CASE WHEN size(gold) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged
    WHEN size(walked) = 0 THEN $untraversed END AS reason
