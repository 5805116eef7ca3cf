// title: False claims
// answers: Which claims does the gold answer contradict, or neither it nor anything retrieved support, and on which traversed edge outside gold do they rest?
// order: 85
// parameters: run, question = null, limit = 20
// columns: question, judge, model, sentence, claim, gold, support, source, relation, target
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
MATCH (a:Answer {run: $run, question: q.id})-[:CLAIMS]->(c:Claim)
WHERE a.error IS NULL AND (c.gold = 'CONTRADICTED' OR (c.gold = 'NOT_MENTIONED' AND c.support = 'UNSUPPORTED'))
WITH q, c, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.relations[i], g.targets[i]]
} AS gold
// Today's gold decides, as in claims-off-gold.
WITH q, c, CASE WHEN c.edge_source IS NULL OR size(gold) = 0 OR any(e IN gold WHERE c.edge_source = e[0]
    AND c.edge_target = e[2] AND (c.edge_relation = e[1] OR c.edge_relation = '' OR e[1] = ''))
  THEN null ELSE [c.edge_source, c.edge_relation, c.edge_target] END AS wrong
RETURN q.id AS question, c.judge AS judge, CASE WHEN c.model <> '' THEN c.model END AS model, c.sentence AS sentence, c.text AS claim, c.gold AS gold,
  c.support AS support, wrong[0] AS source, CASE WHEN wrong[1] = '' THEN null ELSE wrong[1] END AS relation,
  wrong[2] AS target
ORDER BY question, judge, coalesce(model, ''), c.position
LIMIT $limit
