// title: Found by this run only
// answers: Which gold edges did this run traverse that no other run of the same dataset did, and how many others could have?
// order: 30
// parameters: run, question = null, limit = 20
// columns: question, path, position, source, relation, target, others
MATCH (r:Run {id: $run})
WITH r, COLLECT {
  MATCH (o:Run) WHERE o.dataset = r.dataset AND o.complete AND o.id <> r.id
  RETURN {id: o.id, kept: o.kept IS NOT NULL}
} AS others
MATCH (q:Question {dataset: r.dataset}) WHERE coalesce(q.invalid, '') = '' AND ($question IS NULL OR q.id = $question)
MATCH (q)<-[:ANSWERS]-(a:Answer) WHERE a.run = $run AND a.error IS NULL
// What the others did is known where it is stored, and where their record says it.
WITH q, a, others, COLLECT {
  MATCH (q)<-[:KEPT]-(k:Run)
  RETURN k.id
} AS kept, COLLECT {
  MATCH (q)<-[:ANSWERS]-(b:Answer) WHERE b.error IS NULL AND NOT b.walk_logged
  RETURN b.run
} AS unlogged
WITH q, a, [o IN others WHERE (NOT o.kept OR o.id IN kept) AND NOT o.id IN unlogged | o.id] AS others
WHERE size(others) > 0
WITH q, others, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS walked, COLLECT {
  MATCH (q)<-[:ANSWERS]-(b:Answer)-[:WALKED]->(p:RetrievedPath) WHERE b.run IN others
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS elsewhere
MATCH (q)-[:EXPECTS]->(g:GoldPath)
UNWIND range(0, size(g.sources) - 1) AS i
WITH q, g, i, others, walked, elsewhere, [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i]] AS e
WHERE any(w IN walked WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))
  AND NOT any(w IN elsewhere WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))
RETURN q.id AS question, coalesce(g.id, toString(g.index)) AS path, i AS position, e[0] AS source,
  CASE WHEN e[1] = '' THEN null ELSE e[1] END AS relation, e[2] AS target, size(others) AS others
ORDER BY question, path, position
LIMIT $limit
