// title: Tokens and latency by kind of failure
// answers: What do the questions of a run use that failed, that miss a boundary, that miss another required edge, and that miss none? Each question counts once, by the first kind that applies; means are over the questions whose record says it.
// order: 60
// parameters: run
// columns: kind, questions, prompt_tokens, output_tokens, latency_ms, mean_prompt_tokens, mean_output_tokens, mean_latency_ms
MATCH (r:Run {id: $run})
MATCH (q:Question {dataset: r.dataset}) WHERE coalesce(q.invalid, '') = ''
  AND (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
OPTIONAL MATCH (q)<-[:ANSWERS]-(a:Answer) WHERE a.run = $run
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets
  UNWIND range(0, size(sources) - 1) AS i
  RETURN DISTINCT [sources[i], relations[i], targets[i]]
} AS walked
WITH q, a, walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN {unit: g.unit, wanted: [i IN range(0, size(g.sources) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = ''))) |
    [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], g.crosses[i]]]} AS path
} AS paths
WITH a, [p IN paths WHERE size(p.wanted) > 0 | {unit: p.unit, crosses: any(e IN p.wanted WHERE e[3]),
  missed: [e IN p.wanted WHERE NOT any(w IN walked
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))]}] AS paths
// Of alternatives one without a miss is enough: of those with a boundary, where boundaries count.
WITH a, CASE
  WHEN a IS NULL OR a.error IS NOT NULL THEN 'failed-questions'
  WHEN size(paths) = 0 THEN 'no gold path'
  WHEN NOT a.walk_logged THEN 'not logged'
  WHEN any(p IN paths WHERE p.crosses AND all(o IN paths WHERE o.unit <> p.unit OR NOT o.crosses OR any(e IN o.missed WHERE e[3])))
    THEN 'missed-boundaries'
  WHEN any(p IN paths WHERE all(o IN paths WHERE o.unit <> p.unit OR size(o.missed) > 0)) THEN 'missed-edges'
  ELSE 'none' END AS kind
RETURN kind, count(*) AS questions, sum(a.prompt_tokens) AS prompt_tokens, sum(a.output_tokens) AS output_tokens,
  round(sum(a.latency_ms)) AS latency_ms, round(avg(a.prompt_tokens)) AS mean_prompt_tokens,
  round(avg(a.output_tokens)) AS mean_output_tokens, round(avg(a.latency_ms)) AS mean_latency_ms
ORDER BY CASE kind WHEN 'failed-questions' THEN 0 WHEN 'missed-boundaries' THEN 1 WHEN 'missed-edges' THEN 2
  WHEN 'none' THEN 3 ELSE 4 END, kind
