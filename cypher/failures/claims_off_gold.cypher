// title: Claims off the gold path
// answers: Which supported claims rest on a traversed edge that no gold path of the question holds, at which commits was the edge read, and what does the gold answer say?
// order: 86
// parameters: run, question = null, limit = 20
// columns: question, judge, model, sentence, claim, support, gold, source, relation, target, source_commit, target_commit
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
  AND EXISTS { MATCH (a)-[:CLAIMS]->(any:Claim) WHERE any.edge_source IS NOT NULL }
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN [p.sources[i], p.relations[i], p.targets[i], p.source_commits[i], p.target_commits[i]] AS edge
  ORDER BY p.index, i
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.relations[i], g.targets[i]]
} AS gold
WHERE size(gold) > 0
MATCH (a)-[:CLAIMS]->(c:Claim) WHERE c.support <> 'UNSUPPORTED' AND c.edge_source IS NOT NULL
  AND NOT any(e IN gold WHERE c.edge_source = e[0] AND c.edge_target = e[2]
    AND (c.edge_relation = e[1] OR c.edge_relation = '' OR e[1] = ''))
WITH q, c, [w IN walked WHERE w[0] = c.edge_source AND w[1] = c.edge_relation AND w[2] = c.edge_target] AS steps
RETURN q.id AS question, c.judge AS judge, CASE WHEN c.model <> '' THEN c.model END AS model, c.sentence AS sentence, c.text AS claim, c.support AS support,
  c.gold AS gold, c.edge_source AS source, CASE WHEN c.edge_relation = '' THEN null ELSE c.edge_relation END AS relation,
  c.edge_target AS target, [s IN steps WHERE s[3] <> '' | s[3]][0] AS source_commit,
  [s IN steps WHERE s[4] <> '' | s[4]][0] AS target_commit
ORDER BY question, judge, coalesce(model, ''), c.position
LIMIT $limit
