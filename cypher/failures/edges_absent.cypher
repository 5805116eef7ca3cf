// title: Edges that the knowledge graph lacks
// answers: Which single gold edges does the run miss that the knowledge graph lacks, of how many questions that require them?
// order: 74
// parameters: run, question = null, limit = 20
// columns: source, relation, target, missed, required
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
MATCH (q)-[:EXPECTS]->(g:GoldPath) WHERE any(lacks IN g.absent WHERE lacks)
WITH DISTINCT q
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND a.walk_logged
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS walked
WITH q, a, walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN {unit: g.unit, rank: g.rank, path: coalesce(g.id, toString(g.index)),
    wanted: [i IN range(0, size(g.sources) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = ''))) |
      [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], coalesce(g.absent[i], false)]]} AS path
  ORDER BY g.index
} AS paths
WITH q, a, walked, [p IN paths WHERE size(p.wanted) > 0 | {unit: p.unit, rank: p.rank, path: p.path, wanted: p.wanted,
  edges: reduce(all = [], e IN p.wanted | CASE WHEN e[0..3] IN all THEN all ELSE all + [e[0..3]] END),
  absent: [e IN p.wanted WHERE e[3] | e[0..3]], missed: [e IN p.wanted WHERE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))]}] AS paths
WITH q, a, walked, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, edges: p.edges, absent: p.absent,
  lost: [e IN p.edges WHERE any(m IN p.missed WHERE m[0..3] = e)]}] AS paths
WITH q, a, walked, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, absent: p.absent,
  lost: p.lost, share: toFloat(size(p.lost)) / size(p.edges)}] AS paths
// Of alternatives the one with the smallest share missed counts, of equals the one of the lowest rank: as EdgeRecall
// chooses.
WITH q, a, walked, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share < p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
UNWIND chosen AS p
UNWIND p.absent AS e
WITH DISTINCT q.id AS question, e, CASE WHEN e IN p.lost THEN 1 ELSE 0 END AS miss
WITH e, sum(miss) AS missed, count(*) AS required
WHERE missed > 0
RETURN e[0] AS source, CASE WHEN e[1] = '' THEN null ELSE e[1] END AS relation, e[2] AS target, missed, required
ORDER BY missed DESC, source, coalesce(relation, ''), target
LIMIT $limit
