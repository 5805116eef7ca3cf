// title: Unsupported claims
// answers: Which claims of an answer does nothing retrieved support, according to which judge, and which chunks of which commits did the judge name nevertheless?
// order: 82
// parameters: run, question = null, limit = 20
// columns: question, judge, model, sentence, claim, gold, mismatch, named, edge, cited
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
MATCH (a:Answer {run: $run, question: q.id})-[:CLAIMS]->(c:Claim) WHERE a.error IS NULL AND c.support = 'UNSUPPORTED'
RETURN q.id AS question, c.judge AS judge, CASE WHEN c.model <> '' THEN c.model END AS model, c.sentence AS sentence, c.text AS claim, c.gold AS gold,
  c.mismatch AS mismatch, COLLECT {
    MATCH (c)-[:SUPPORTED_BY]->(k:Chunk)
    RETURN DISTINCT CASE WHEN k.commit IS NULL THEN k.id ELSE k.id + ' at ' + k.commit END AS chunk
    ORDER BY chunk
  } AS named,
  CASE WHEN c.edge_source IS NOT NULL THEN c.edge_source + ' -' + c.edge_relation + '-> ' + c.edge_target END AS edge,
  COLLECT {
    MATCH (c)-[:CITES]->(t:Citation)
    RETURN t.text AS text
    ORDER BY t.position
  } AS cited
ORDER BY question, judge, coalesce(model, ''), c.position
LIMIT $limit
