// title: Wrong repositories
// answers: Which repositories did the run enter that gold does not touch, with how many chunks and edges?
// order: 90
// parameters: run, question = null, limit = 20
// columns: question, repo, chunks, edges, relevant
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
  WITH q UNWIND q.relevant_repositories AS repo RETURN DISTINCT repo
  UNION
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND g.repositories AS repo
  RETURN DISTINCT repo
} AS relevant, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.repo IS NOT NULL
  RETURN c.repo
} AS chunks, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN [p.source_repos[i], p.target_repos[i]]
} AS ends, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.repo IS NOT NULL
  RETURN DISTINCT c.repo AS repo
  UNION
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.repositories AS repo
  RETURN DISTINCT repo
} AS retrieved
WHERE size(relevant) > 0
UNWIND [repo IN retrieved WHERE NOT repo IN relevant] AS repo
RETURN q.id AS question, repo, size([c IN chunks WHERE c = repo]) AS chunks,
  size([e IN ends WHERE repo IN e]) AS edges,
  COLLECT { UNWIND relevant AS name RETURN name ORDER BY name } AS relevant
ORDER BY chunks + edges DESC, question, repo
LIMIT $limit
