// title: Access violations
// answers: What did a run traverse, begin at, show or retrieve that the question's principal may not read, and where first?
// order: 37
// parameters: run, question = null, limit = 20
// columns: question, principal, part, path, position, node
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
WITH q, p, COLLECT {
  MATCH (a)-[:WALKED]->(w:RetrievedPath)
  UNWIND range(0, size(w.sources) - 1) AS i
  UNWIND [[w.sources[i], w.source_repos[i]], [w.targets[i], w.target_repos[i]]] AS node
  RETURN {part: 'walk', path: w.index, position: i, node: node[0], repo: node[1], relation: ''} AS one
} + COLLECT {
  MATCH (a)-[:WALKED]->(w:RetrievedPath)
  UNWIND range(0, size(w.sources) - 1) AS i
  WITH w, i WHERE w.relations[i] <> ''
  RETURN {part: 'walk', path: w.index, position: i, node: w.sources[i] + ' -' + w.relations[i] + '-> ' + w.targets[i],
    repo: '', relation: w.relations[i]} AS one
} + COLLECT {
  MATCH (a)-[s:SEEDED]->(n:Artifact)
  RETURN {part: 'seed', path: 0, position: s.rank - 1, node: n.id, repo: coalesce(n.repo, ''), relation: ''} AS one
} + COLLECT {
  MATCH (a)-[:CALLED]->(c:ToolCall)-[s:SAW]->(n:Artifact)
  RETURN {part: 'call', path: c.position, position: s.place, node: n.id, repo: coalesce(n.repo, ''), relation: ''} AS one
} + COLLECT {
  MATCH (a)-[g:RETRIEVED]->(c:Chunk)
  RETURN {part: 'context', path: 0, position: g.rank - 1, node: c.id, repo: coalesce(c.repo, ''), own: c.own_repo,
    relation: ''} AS one
} + [i IN range(0, size(coalesce(a.ranked, [])) - 1) | {part: 'context', path: 1, position: i, node: a.ranked[i],
  repo: a.ranked_repos[i], relation: ''}] AS found
UNWIND found AS one
WITH q, p, one WHERE CASE WHEN one.relation <> ''
  THEN NOT coalesce(one.relation =~ p.relations, true) OR coalesce(one.relation =~ p.denied_relations, false)
  ELSE NOT (coalesce(one.node =~ p.ids, false) OR (coalesce(one.repo <> '' AND one.repo =~ p.repositories, false)
      AND coalesce(one.own =~ p.repositories, one.own IS NULL)))
    OR coalesce(one.node =~ p.denied_ids, false) OR coalesce(one.repo <> '' AND one.repo =~ p.denied_repositories, false)
    OR coalesce(one.own =~ p.denied_repositories, false) END
WITH q, one.part AS part, one.node AS node, min(one.path * 1000000 + one.position) AS first, min(one.relation) AS relation
WITH q, part, node, first / 1000000 AS path, first % 1000000 AS position, relation
ORDER BY q.id, CASE part WHEN 'walk' THEN 0 WHEN 'seed' THEN 1 WHEN 'call' THEN 2 ELSE 3 END, path, position,
  CASE WHEN relation = '' THEN 0 ELSE 1 END, node
RETURN q.id AS question, q.principal AS principal, part, path, position, node
LIMIT $limit
