// title: Not linked
// answers: Which gold paths broke since the question was linked to other nodes than that at which the path begins, to a namesake in another repository or at another path, or to nothing? Seed is the first namesake, else the best seed.
// order: 39
// parameters: run, question = null, limit = 20
// columns: question, path, position, start, seed, namesake, seeds
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND a.walk_logged AND a.seeds_logged
WITH r, q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]] AS edge
} AS walked, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.sources + p.targets AS node
  RETURN DISTINCT node
} + coalesce(a.before_sources, []) + coalesce(a.before_targets, []) AS reached, COLLECT {
  MATCH (a)-[s:SEEDED]->(n:Artifact)
  RETURN [n.id, toLower(coalesce(n.symbol, last(split(n.path, '/')), n.id))] AS seed
  ORDER BY s.rank
} AS linked
WITH r, q, a, walked, reached, reduce(all = [], s IN linked | CASE WHEN s IN all THEN all ELSE all + [s] END) AS linked
WITH r, q, a, walked, reached, linked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN {unit: g.unit, rank: g.rank, path: coalesce(g.id, toString(g.index)), start: g.start,
    wanted: [i IN range(0, size(g.sources) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = ''))) |
      [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], i, g.sources[i],
        coalesce(g.absent[i], false)]]} AS path
  ORDER BY g.index
} AS paths
WITH r, q, reached, linked, paths AS every, [p IN paths WHERE size(p.wanted) > 0 | {unit: p.unit, rank: p.rank, path: p.path, start: p.start,
  edges: reduce(all = [], e IN p.wanted | CASE WHEN e[0..3] IN all THEN all ELSE all + [e[0..3]] END),
  missed: [e IN p.wanted WHERE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))]}] AS paths
WITH r, q, reached, linked, every, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, start: p.start,
  missed: p.missed, share: toFloat(size([e IN p.edges WHERE any(m IN p.missed WHERE m[0..3] = e)])) / size(p.edges)}] AS paths
// Of alternatives the one with the smallest share missed counts, of equals the one of the lowest rank.
WITH r, q, reached, linked, every, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share < p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
WITH r, q, reached, linked, [p IN chosen WHERE size(p.missed) > 0 | {path: p.path, start: p.start, missed: p.missed,
  alternatives: [o IN every WHERE o.unit = p.unit AND o.start IS NOT NULL | o.start]}] AS chosen
UNWIND chosen AS p
WITH r, q, reached, linked, p, p.missed[0] AS e,
  CASE WHEN q.seeds IS NULL OR p.start IN q.seeds THEN [p.start] + p.alternatives ELSE q.seeds END AS starts
WHERE NOT e[5] AND NOT any(s IN linked WHERE s[0] IN starts) AND NOT any(n IN reached WHERE n = e[4] OR n IN starts)
MATCH (b:Artifact {dataset: r.dataset, id: starts[0]})
WITH q, linked, p, e, b, [s IN linked WHERE s[1] = toLower(coalesce(b.symbol, last(split(b.path, '/')), b.id))] AS namesakes
RETURN q.id AS question, p.path AS path, e[3] AS position, b.id AS start, coalesce(namesakes[0][0], linked[0][0]) AS seed,
  size(namesakes) > 0 AS namesake, size(linked) AS seeds
ORDER BY question, path
LIMIT $limit
