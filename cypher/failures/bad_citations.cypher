// title: Bad citations
// answers: Which citations of an answer are wrong and why, which chunks and commits do they refer to, and at which claims do they stand?
// order: 84
// parameters: run, question = null, limit = 20
// columns: question, judge, model, citation, target, reason, chunks, claims
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
MATCH (a:Answer {run: $run, question: q.id})-[:CITES]->(t:Citation) WHERE a.error IS NULL AND t.correct = false
RETURN q.id AS question, t.judge AS judge, CASE WHEN t.model <> '' THEN t.model END AS model, t.text AS citation, t.target AS target, t.reason AS reason, COLLECT {
    MATCH (t)-[:POINTS_TO]->(k:Chunk)
    RETURN DISTINCT CASE WHEN k.commit IS NULL THEN k.id ELSE k.id + ' at ' + k.commit END AS chunk
    ORDER BY chunk
  } AS chunks,
  COLLECT {
    MATCH (t)<-[:CITES]-(c:Claim)
    RETURN c.text AS text
    ORDER BY c.position
  } AS claims
ORDER BY question, judge, coalesce(model, ''), t.position
LIMIT $limit
