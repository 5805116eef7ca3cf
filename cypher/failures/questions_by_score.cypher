// title: Questions by score
// answers: On which questions is the traversal of the run worst?
// order: 10
// parameters: run, question = null, limit = 20
// columns: question, difficulty, category, edge_recall, found, required, error
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
  AND (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
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
      [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], i, g.crosses[i]]]} AS path
  ORDER BY g.index
} AS paths
WITH q, a, walked, [p IN paths WHERE size(p.wanted) > 0 | {unit: p.unit, rank: p.rank, path: p.path, wanted: p.wanted,
  edges: reduce(all = [], e IN p.wanted | CASE WHEN e[0..3] IN all THEN all ELSE all + [e[0..3]] END),
  missed: [e IN p.wanted WHERE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))]}] AS paths
WITH q, a, walked, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, edges: p.edges, missed: p.missed,
  lost: [e IN p.edges WHERE any(m IN p.missed WHERE m[0..3] = e)]}] AS paths
WITH q, a, walked, [p IN paths | {unit: p.unit, rank: p.rank, path: p.path, edges: p.edges, missed: p.missed,
  lost: p.lost, share: toFloat(size(p.lost)) / size(p.edges)}] AS paths
// Of alternatives the one with the smallest share missed counts, of equals the one of the lowest rank.
WITH q, a, walked, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share < p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
WITH q, a, reduce(all = [], p IN chosen | all + [e IN p.edges WHERE NOT e IN all]) AS required,
  reduce(all = [], p IN chosen | all + [e IN p.lost WHERE NOT e IN all]) AS missed
WHERE size(required) > 0
WITH q, a, size(required) AS required, size(required) - size(missed) AS found,
  a IS NOT NULL AND a.error IS NULL AND a.walk_logged AS scored
RETURN q.id AS question, q.difficulty AS difficulty, q.category AS category,
  CASE WHEN scored THEN round(10000.0 * found / required) / 10000 END AS edge_recall,
  CASE WHEN scored THEN found END AS found, required,
  CASE WHEN a IS NULL THEN 'no record' WHEN a.error IS NULL AND NOT a.walk_logged THEN 'no traversal (not logged)'
    ELSE a.error END AS error
ORDER BY CASE WHEN scored THEN toFloat(found) / required ELSE -1.0 END, required DESC, question
LIMIT $limit
