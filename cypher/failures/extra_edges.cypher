// title: Extra edges
// answers: Which edges did the run traverse that no gold path of the question holds?
// order: 120
// parameters: run, question = null, limit = 20
// columns: question, source, relation, target, crosses
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
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets, coalesce(p.at_crosses, p.crosses) AS crosses,
    p.at_twice AS twice
  UNWIND range(0, size(sources) - 1) AS i
  WITH sources, relations, targets, crosses, i WHERE NOT coalesce(twice[i], false)
  RETURN DISTINCT [sources[i], relations[i], targets[i], crosses[i]]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i]]
} AS gold
UNWIND [w IN walked WHERE NOT any(e IN gold
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS w
RETURN q.id AS question, w[0] AS source, CASE WHEN w[1] = '' THEN null ELSE w[1] END AS relation, w[2] AS target,
  w[3] AS crosses
ORDER BY question, source, relation, target
LIMIT $limit
