// title: Edge F1
// answers: What is the harmonic mean of edge recall and edge precision?
// parameters: dataset, run, questions, relation, unstated, directed, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(CASE WHEN $unstated <> '' THEN p.gate_sources END, p.at_sources, p.sources) AS sources,
    coalesce(CASE WHEN $unstated <> '' THEN p.gate_targets END, p.at_targets, p.targets) AS targets,
    coalesce(p.at_relations, p.relations) AS relations, p.at_twice AS twice
  UNWIND range(0, size(sources) - 1) AS i
  WITH sources, targets, relations, i WHERE NOT coalesce(twice[i], false)
  RETURN DISTINCT [CASE WHEN $directed OR sources[i] <= targets[i] THEN sources[i] ELSE targets[i] END,
    CASE WHEN NOT $relation THEN '' WHEN relations[i] = '' THEN $unstated ELSE relations[i] END,
    CASE WHEN $directed OR sources[i] <= targets[i] THEN targets[i] ELSE sources[i] END]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  WITH g, coalesce(g.at_sources, g.sources) AS gold_sources, coalesce(g.at_targets, g.targets) AS gold_targets
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [CASE WHEN $directed OR gold_sources[i] <= gold_targets[i] THEN gold_sources[i] ELSE gold_targets[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR gold_sources[i] <= gold_targets[i] THEN gold_targets[i] ELSE gold_sources[i] END]
} AS gold, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  WITH g, i, coalesce(g.at_sources, g.sources) AS gold_sources,
    coalesce(g.at_targets, g.targets) AS gold_targets WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR (a.before_relations[b] = '' AND $unstated = ''))))
  WITH g, collect(DISTINCT [CASE WHEN $directed OR gold_sources[i] <= gold_targets[i] THEN gold_sources[i] ELSE gold_targets[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR gold_sources[i] <= gold_targets[i] THEN gold_targets[i] ELSE gold_sources[i] END]) AS wanted
  RETURN {unit: g.unit, rank: g.rank, wanted: wanted}
} AS paths
WITH q, a, walked, [w IN walked WHERE any(e IN gold
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS right,
  [p IN paths | {unit: p.unit, rank: p.rank, wanted: p.wanted, found: [e IN p.wanted WHERE any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))]}] AS paths
WITH q, a, walked, right, [p IN paths | {unit: p.unit, rank: p.rank, wanted: p.wanted, found: p.found,
  share: toFloat(size(p.found)) / size(p.wanted)}] AS paths
// Of alternatives the best counts, of equals the one of the lowest rank.
WITH q, a, walked, right, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share > p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
WITH q, a, walked, right,
  reduce(all = [], p IN chosen | all + [e IN p.wanted WHERE NOT e IN all]) AS required,
  reduce(all = [], p IN chosen | all + [e IN p.found WHERE NOT e IN all]) AS found
// The harmonic mean of found / required and right / walked, divided once: equal ratios are equal floats.
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(required) = 0 OR NOT a.walk_logged THEN null
    WHEN size(found) = 0 OR size(right) = 0 THEN 0.0
    ELSE toFloat(2 * size(found) * size(right)) / (size(found) * size(walked) + size(right) * size(required)) END AS value,
  CASE WHEN size(required) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged END AS reason
