// title: Found and lost
// answers: Which gold edges did this run traverse that another run did not?
// order: 130
// parameters: run, other, question = null, limit = 20
// columns: question, path, position, source, relation, target
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
// What the other run did is known where it is stored.
MATCH (o:Run {id: $other}) WHERE o.dataset = q.dataset
  AND (o.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $other })
OPTIONAL MATCH (b:Answer {run: $other, question: q.id})
// What the other run walked isn't known where its record doesn't say.
WITH q, a, b WHERE b IS NULL OR b.walk_logged
WITH q, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS walked, COLLECT {
  MATCH (b)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS other
MATCH (q)-[:EXPECTS]->(g:GoldPath)
UNWIND range(0, size(g.sources) - 1) AS i
WITH q, g, i, walked, other, [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i]] AS e
WHERE any(w IN walked WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))
  AND NOT any(w IN other WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))
RETURN q.id AS question, coalesce(g.id, toString(g.index)) AS path, i AS position, e[0] AS source,
  CASE WHEN e[1] = '' THEN null ELSE e[1] END AS relation, e[2] AS target
ORDER BY question, path, position
LIMIT $limit
