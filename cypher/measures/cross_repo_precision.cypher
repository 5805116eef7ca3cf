// title: Cross-repository precision
// answers: Which share of the retrieved repositories is relevant?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.repo IS NOT NULL
  RETURN DISTINCT c.repo AS repo
  UNION
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.repositories AS repo
  RETURN DISTINCT repo
} AS retrieved, COLLECT {
  WITH q UNWIND q.relevant_repositories AS repo RETURN DISTINCT repo
  UNION
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND g.repositories AS repo
  RETURN DISTINCT repo
} AS relevant
WITH q, a, retrieved, relevant, [repo IN retrieved WHERE repo IN relevant] AS right
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(relevant) = 0
      OR (size(retrieved) = 0 AND NOT (a.chunks_logged AND a.walk_logged)) THEN null
    WHEN size(retrieved) = 0 THEN 0.0 ELSE toFloat(size(right)) / size(retrieved) END AS value,
  CASE WHEN size(relevant) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN size(retrieved) = 0 AND NOT (a.chunks_logged AND a.walk_logged) THEN $unlogged END AS reason
