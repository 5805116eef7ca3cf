// title: Results of queries
// answers: Which share of the queries of each record ran, is its result that of gold, and how many of the nodes that it or gold matches do both match? $measure names which.
// parameters: dataset, run, questions, measure, unscored, unlogged, untold, not_logged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, a.query_nodes AS given, a.gold_query_nodes AS gold,
  CASE WHEN $measure <> 'executable' AND size(coalesce(q.gold_cypher, [])) = 0 THEN $unscored
    WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN a.query_ran IS NULL THEN coalesce(a.query_reason + $not_logged, $unlogged)
    WHEN $measure <> 'executable' AND a.query_ran AND (($measure = 'accuracy' AND a.same_result IS NULL)
      OR ($measure = 'psjs' AND (a.query_nodes IS NULL OR a.gold_query_nodes IS NULL)))
      THEN coalesce(a.query_reason, $untold) + $not_logged END AS reason
WITH q, a, reason, gold, given, size([n IN given WHERE n IN gold]) AS both
RETURN q.id AS question,
  CASE WHEN reason IS NOT NULL THEN null WHEN NOT a.query_ran THEN 0.0 WHEN $measure = 'executable' THEN coalesce(a.query_share, 1.0)
    WHEN $measure = 'accuracy' THEN CASE WHEN a.same_result THEN 1.0 ELSE 0.0 END
    WHEN size(gold) + size(given) = 0 THEN 1.0
    ELSE toFloat(both) / (size(gold) + size(given) - both) END AS value, reason
