// title: Questions lost in every run
// answers: On which questions does every run of the same dataset miss a required gold edge or fail, and which run came closest? A run whose record has no traversal is left out.
// order: 20
// parameters: run, limit = 20
// columns: question, difficulty, category, runs, failed, closest_run, edge_recall
MATCH (r:Run {id: $run})
WITH r, COLLECT {
  MATCH (o:Run) WHERE o.dataset = r.dataset AND o.complete
  RETURN {id: o.id, kept: o.kept IS NOT NULL}
} AS runs
MATCH (q:Question {dataset: r.dataset}) WHERE coalesce(q.invalid, '') = ''
WITH q, runs, COLLECT {
  MATCH (q)<-[:KEPT]-(k:Run)
  RETURN k.id
} AS kept
WITH q, [o IN runs WHERE NOT o.kept OR o.id IN kept | o.id] AS runs
OPTIONAL MATCH (q)<-[:ANSWERS]-(a:Answer) WHERE a.run IN runs
WITH q, runs, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS walked
WITH q, runs, a, walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN {unit: g.unit, rank: g.rank,
    wanted: [i IN range(0, size(g.sources) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = ''))) |
      [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i]]]} AS path
  ORDER BY g.index
} AS paths
WITH q, runs, a, [p IN paths WHERE size(p.wanted) > 0 | {unit: p.unit, rank: p.rank, wanted: p.wanted,
  edges: reduce(all = [], e IN p.wanted | CASE WHEN e[0..3] IN all THEN all ELSE all + [e[0..3]] END),
  missed: [e IN p.wanted WHERE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = '')) | e[0..3]]}] AS paths
WITH q, runs, a, [p IN paths | {unit: p.unit, rank: p.rank, wanted: p.wanted, edges: p.edges,
  lost: [e IN p.edges WHERE e IN p.missed]}] AS paths
WITH q, runs, a, [p IN paths | {unit: p.unit, rank: p.rank, wanted: p.wanted, edges: p.edges, lost: p.lost,
  share: toFloat(size(p.lost)) / size(p.edges)}] AS paths
// Of alternatives the one with the smallest share missed counts, of equals the one of the lowest rank.
WITH q, runs, a, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share < p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
WITH q, runs, a, size(reduce(all = [], p IN chosen | all + [e IN p.edges WHERE NOT e IN all])) AS required,
  size(reduce(all = [], p IN chosen | all + [e IN p.lost WHERE NOT e IN all])) AS missed
WHERE required > 0
WITH q, runs, CASE WHEN a IS NULL OR a.error IS NOT NULL THEN null WHEN a.walk_logged THEN toFloat(required - missed) / required
  END AS recall, a, a IS NOT NULL AND a.error IS NULL AS answered
ORDER BY recall DESC, a.run
WITH q, runs, collect(CASE WHEN recall IS NOT NULL THEN {run: a.run, recall: recall} END) AS scored,
  count(CASE WHEN answered AND recall IS NULL THEN 1 END) AS unlogged
WITH q, size(runs) - unlogged AS runs, scored, size(runs) - unlogged - size(scored) AS failed
WHERE runs > 0 AND all(one IN scored WHERE one.recall < 1.0)
WITH q, runs, failed, head([one IN scored WHERE NOT any(o IN scored
  WHERE o.recall > one.recall OR (o.recall = one.recall AND o.run < one.run))]) AS closest
RETURN q.id AS question, q.difficulty AS difficulty, q.category AS category, runs, failed, closest.run AS closest_run,
  round(10000.0 * closest.recall) / 10000 AS edge_recall
ORDER BY coalesce(edge_recall, -1.0), question
LIMIT $limit
