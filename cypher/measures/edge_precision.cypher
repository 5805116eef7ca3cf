// title: Edge precision
// answers: Which share of the distinct traversed edges is in any gold path? With $boundary over edges between repositories only.
// parameters: dataset, run, questions, relation, unstated, directed, boundary, unscored, untraversed, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(CASE WHEN $unstated <> '' THEN p.gate_sources END, p.at_sources, p.sources) AS sources,
    coalesce(CASE WHEN $unstated <> '' THEN p.gate_targets END, p.at_targets, p.targets) AS targets,
    coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_crosses, p.crosses) AS crosses, p.at_twice AS twice
  UNWIND range(0, size(sources) - 1) AS i
  WITH sources, targets, relations, i WHERE (NOT $boundary OR crosses[i]) AND NOT coalesce(twice[i], false)
  RETURN DISTINCT [CASE WHEN $directed OR sources[i] <= targets[i] THEN sources[i] ELSE targets[i] END,
    CASE WHEN NOT $relation THEN '' WHEN relations[i] = '' THEN $unstated ELSE relations[i] END,
    CASE WHEN $directed OR sources[i] <= targets[i] THEN targets[i] ELSE sources[i] END]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  WITH g, i, coalesce(g.at_sources, g.sources) AS gold_sources,
    coalesce(g.at_targets, g.targets) AS gold_targets WHERE NOT $boundary OR g.crosses[i]
  RETURN DISTINCT [CASE WHEN $directed OR gold_sources[i] <= gold_targets[i] THEN gold_sources[i] ELSE gold_targets[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR gold_sources[i] <= gold_targets[i] THEN gold_targets[i] ELSE gold_sources[i] END]
} AS gold
WITH q, a, gold, walked, [w IN walked WHERE any(e IN gold
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS right
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(gold) = 0 OR size(walked) = 0 THEN null
    ELSE toFloat(size(right)) / size(walked) END AS value,
  CASE WHEN size(gold) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged
    WHEN size(walked) = 0 THEN $untraversed END AS reason
