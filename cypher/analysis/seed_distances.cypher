// title: Distances of seeds
// answers: How far is each gold path from the nearest node that the question was linked to, in edges of the knowledge graph in any direction? Null beyond eight, and where the graph has no edges.
// order: 45
// parameters: run, question = null, limit = 20
// columns: question, path, start, seed, node, distance
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.seeds_logged
MATCH (q)-[:EXPECTS]->(g:GoldPath) WHERE g.start IS NOT NULL
WITH r, q, a, g
ORDER BY q.id, g.index
LIMIT $limit
WITH r, q, g, COLLECT {
  MATCH (a)-[s:SEEDED]->(n:Artifact)
  RETURN n.id
  ORDER BY s.rank
} AS linked
WITH r, q, g, linked, g.sources + g.targets AS nodes
WITH r, q, g, linked, nodes, [id IN linked WHERE id IN nodes][0] AS at
CALL (r, linked, nodes, at) {
  UNWIND CASE WHEN at IS NULL THEN range(0, size(linked) - 1) ELSE [] END AS s
  UNWIND range(0, size(nodes) - 1) AS n
  MATCH (x:Artifact {dataset: r.dataset, id: linked[s]})
  MATCH (y:Artifact {dataset: r.dataset, id: nodes[n]})
  MATCH way = shortestPath((x)-[:EDGE*1..8]-(y))
  WITH x, y, s, n, length(way) AS far
  ORDER BY far, s, n
  LIMIT 1
  RETURN collect([x.id, y.id, far])[0] AS way
}
RETURN q.id AS question, coalesce(g.id, toString(g.index)) AS path, g.start AS start, coalesce(at, way[0]) AS seed,
  coalesce(at, way[1]) AS node, CASE WHEN at IS NULL THEN way[2] ELSE 0 END AS distance
ORDER BY question, path
