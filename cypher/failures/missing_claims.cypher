// title: Missing claims
// answers: Which claims of the gold answer does the answer not state, which retrieved chunks support them, and which gold edges that they go with did the run traverse or miss?
// order: 87
// parameters: run, question = null, limit = 20
// columns: question, judge, model, claim, chunks, source, relation, target, named_in, missed
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
MATCH (a:Answer {run: $run, question: q.id})-[:JUDGED]->(v:Verdict)
WHERE a.error IS NULL AND any(stated IN v.gold_stated WHERE NOT stated)
WITH q, a, v, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.relations[i], g.targets[i]]
} AS gold
UNWIND [n IN range(0, size(v.gold_stated) - 1) WHERE NOT v.gold_stated[n]] AS n
// An edge that gold lost since the answer was judged doesn't count.
WITH q, a, v, walked, n, [i IN range(0, size(v.gold_edge_claims) - 1) WHERE v.gold_edge_claims[i] = n
  AND any(g IN gold WHERE g[0] = v.gold_edge_sources[i] AND g[1] = v.gold_edge_relations[i]
    AND g[2] = v.gold_edge_targets[i]) |
  [v.gold_edge_sources[i], v.gold_edge_relations[i], v.gold_edge_targets[i]]] AS edges
UNWIND CASE WHEN size(edges) = 0 THEN [null] ELSE edges END AS e
RETURN q.id AS question, v.judge AS judge, v.model AS model, v.gold_claims[n] AS claim,
  [i IN range(0, size(v.gold_chunk_claims) - 1) WHERE v.gold_chunk_claims[i] = n | v.gold_chunks[i]] AS chunks,
  e[0] AS source, CASE WHEN e[1] = '' THEN null ELSE e[1] END AS relation, e[2] AS target,
  CASE WHEN e IS NULL THEN null ELSE v.gold_named_in[n] END AS named_in,
  CASE WHEN e IS NULL OR NOT a.walk_logged THEN null ELSE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = '')) END AS missed
ORDER BY question, judge, coalesce(model, ''), n, source, coalesce(e[1], ''), target
LIMIT $limit
