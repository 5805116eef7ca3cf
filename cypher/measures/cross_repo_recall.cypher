// title: Cross-repository recall
// answers: Which share of the relevant repositories was retrieved?
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
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  WHERE size(g.required_repositories) > 0
  RETURN {unit: g.unit, rank: g.rank, wanted: g.required_repositories}
} AS paths
WITH q, a, retrieved, [p IN paths | {unit: p.unit, rank: p.rank, wanted: p.wanted,
  share: toFloat(size([repo IN p.wanted WHERE repo IN retrieved])) / size(p.wanted)}] AS paths
// Of alternatives the best counts, of equals the one of the lowest rank.
WITH q, a, retrieved, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share > p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
WITH q, a, retrieved,
  reduce(all = q.relevant_repositories, p IN chosen | all + [repo IN p.wanted WHERE NOT repo IN all]) AS required
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(required) = 0
      OR (size(retrieved) = 0 AND NOT (a.chunks_logged AND a.walk_logged)) THEN null
    ELSE toFloat(size([repo IN required WHERE repo IN retrieved])) / size(required) END AS value,
  CASE WHEN size(required) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN size(retrieved) = 0 AND NOT (a.chunks_logged AND a.walk_logged) THEN $unlogged END AS reason
