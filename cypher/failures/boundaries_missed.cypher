// title: Boundaries missed most
// answers: Between which repositories does the run miss most required gold edges, of how many, and in how many questions?
// order: 65
// parameters: run, question = null, limit = 20
// columns: from_repo, to_repo, missed, required, share, questions
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
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = ''))) AND g.crosses[i] |
      [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], i, g.source_repos[i], g.target_repos[i]]]} AS path
  ORDER BY g.index
} AS paths
WITH q, a, walked, [p IN paths WHERE size(p.wanted) > 0 | {unit: p.unit, rank: p.rank, path: p.path, wanted: p.wanted,
  edges: reduce(all = [], e IN p.wanted | CASE WHEN e[0..3] IN all THEN all ELSE all + [e[0..3]] END),
  missed: [e IN p.wanted WHERE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))]}] AS paths
WITH q, a, walked, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, wanted: p.wanted, edges: p.edges, missed: p.missed,
  lost: [e IN p.edges WHERE any(m IN p.missed WHERE m[0..3] = e)]}] AS paths
WITH q, a, walked, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, wanted: p.wanted, edges: p.edges, missed: p.missed,
  lost: p.lost, share: toFloat(size(p.lost)) / size(p.edges)}] AS paths
// Of alternatives the one that misses the smallest share of its boundaries counts, of equals the one of the
// lowest rank: as BoundaryRecall chooses.
WITH q, a, walked, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share < p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
UNWIND chosen AS p
UNWIND p.edges AS e
WITH DISTINCT q.id AS question, [w IN p.wanted WHERE w[0..3] = e | [w[0], w[1], w[2], w[4], w[5]]][0] AS e,
  CASE WHEN e IN p.lost THEN 1 ELSE 0 END AS miss
WITH question, e[3] AS from_repo, e[4] AS to_repo, miss
WITH from_repo, to_repo, sum(miss) AS missed, count(*) AS required,
  collect(DISTINCT CASE WHEN miss = 1 THEN question END) AS questions
WHERE missed > 0
RETURN from_repo, to_repo, missed, required, round(100.0 * missed / required) / 100 AS share,
  size(questions) AS questions
ORDER BY missed DESC, from_repo, to_repo
LIMIT $limit
