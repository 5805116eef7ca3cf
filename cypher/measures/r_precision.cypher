// title: R-precision
// answers: Which share of the first R ids is relevant, if R ids are?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, [id IN q.relevant_ids WHERE id IN a.ranking[0..size(q.relevant_ids)]] AS found
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.relevant_ids) = 0 OR NOT a.chunks_logged THEN null
    ELSE toFloat(size(found)) / size(q.relevant_ids) END AS value,
  CASE WHEN size(q.relevant_ids) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
