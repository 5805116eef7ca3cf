// title: Leaks through
// answers: Which traversed paths begin and end where the question's principal may read, and lead through a node that it may not?
// order: 38
// parameters: run, question = null, limit = 20
// columns: question, principal, path, position, node, source, target
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND q.principal IS NOT NULL AND coalesce(q.invalid, '') = ''
OPTIONAL MATCH (p:Principal {dataset: r.dataset, name: q.principal})
MATCH (a)-[:WALKED]->(w:RetrievedPath)
WITH q, p, w, [k IN range(0, 2 * size(w.sources) - 1) | CASE k % 2 WHEN 0 THEN [w.sources[k / 2], w.source_repos[k / 2]]
  ELSE [w.targets[k / 2], w.target_repos[k / 2]] END] AS nodes
WITH q, w, nodes, [k IN range(0, size(nodes) - 1) WHERE
  NOT (coalesce(nodes[k][0] =~ p.ids, false) OR coalesce(nodes[k][1] <> '' AND nodes[k][1] =~ p.repositories, false))
  OR coalesce(nodes[k][0] =~ p.denied_ids, false)
  OR coalesce(nodes[k][1] <> '' AND nodes[k][1] =~ p.denied_repositories, false)] AS forbidden
WHERE size(forbidden) > 0 AND NOT 0 IN forbidden AND NOT size(nodes) - 1 IN forbidden
RETURN q.id AS question, q.principal AS principal, w.index AS path, forbidden[0] / 2 AS position,
  nodes[forbidden[0]][0] AS node, nodes[0][0] AS source, nodes[size(nodes) - 1][0] AS target
ORDER BY question, path
LIMIT $limit
