// title: Claims by boundary
// answers: Of the claims of the gold answer that go with an edge between two repositories, how many does the answer lack, how many of these go with such an edge that the run missed, and how many claims that the gold answer contradicts rest on a wrong edge between them?
// order: 77
// parameters: run, question = null, limit = 20
// columns: judge, model, from_repo, to_repo, missed, required, share, unwalked, wrong, questions
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
MATCH (a:Answer {run: $run, question: q.id})-[:JUDGED]->(v:Verdict {grader: 'claims'}) WHERE a.error IS NULL
WITH q, a, v, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i], p.source_repos[i], p.target_repos[i], p.crosses[i]]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.relations[i], g.targets[i], g.source_repos[i], g.target_repos[i], g.crosses[i]]
} AS gold
WITH q, a, v, walked, gold, COLLECT {
  MATCH (a)-[:CLAIMS]->(c:Claim {judge: v.judge, grader: v.grader})
  WHERE coalesce(c.model, v.model, '') = coalesce(v.model, '')
    AND c.edge_source IS NOT NULL AND c.gold = 'CONTRADICTED' AND size(gold) > 0 AND NOT any(e IN gold
    WHERE c.edge_source = e[0] AND c.edge_target = e[2]
      AND (c.edge_relation = e[1] OR c.edge_relation = '' OR e[1] = ''))
  RETURN [c.edge_source, c.edge_relation, c.edge_target]
} AS wrong
CALL (a, v, walked, gold, wrong) {
  UNWIND range(0, size(v.gold_edge_claims) - 1) AS i
  UNWIND [g IN gold WHERE g[5] AND g[0] = v.gold_edge_sources[i] AND g[1] = v.gold_edge_relations[i]
    AND g[2] = v.gold_edge_targets[i]] AS g
  WITH v, v.gold_edge_claims[i] AS n, g[3] AS from_repo, g[4] AS to_repo, CASE WHEN a.walk_logged AND NOT any(w IN walked
    WHERE w[0] = g[0] AND w[2] = g[2] AND (w[1] = g[1] OR w[1] = '' OR g[1] = '')) THEN 1 ELSE 0 END AS lost
  WITH from_repo, to_repo, CASE WHEN v.gold_stated[n] THEN 0 ELSE 1 END AS missing, n, max(lost) AS lost
  RETURN from_repo, to_repo, missing, 1 AS required, missing * lost AS unwalked, 0 AS wrong_edge
  UNION ALL
  UNWIND wrong AS e
  UNWIND [w IN walked WHERE w[5] AND w[0] = e[0] AND w[1] = e[1] AND w[2] = e[2]][0..1] AS w
  RETURN w[3] AS from_repo, w[4] AS to_repo, 0 AS missing, 0 AS required, 0 AS unwalked, 1 AS wrong_edge
}
WITH v.judge AS judge, v.model AS model, from_repo, to_repo, sum(missing) AS missed, sum(required) AS required, sum(unwalked) AS unwalked,
  sum(wrong_edge) AS wrong, collect(DISTINCT CASE WHEN missing = 1 OR wrong_edge = 1 THEN q.id END) AS questions
WHERE missed > 0 OR wrong > 0
RETURN judge, model, from_repo, to_repo, missed, required,
  CASE WHEN required = 0 THEN null ELSE round(100.0 * missed / required) / 100 END AS share, unwalked, wrong,
  size(questions) AS questions
ORDER BY missed DESC, wrong DESC, judge, coalesce(model, ''), from_repo, to_repo
LIMIT $limit
