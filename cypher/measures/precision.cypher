// title: Precision at k
// answers: Which share of the top k is relevant?
// parameters: dataset, run, questions, k, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, [id IN q.relevant_ids WHERE id IN a.ranking[0..coalesce(q.k, $k)]] AS found
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.relevant_ids) = 0 OR NOT a.chunks_logged THEN null
    ELSE toFloat(size(found)) / coalesce(q.k, $k) END AS value,
  CASE WHEN size(q.relevant_ids) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
