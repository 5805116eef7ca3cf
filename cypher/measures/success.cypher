// title: Success at k
// answers: Is a relevant id in the top k?
// parameters: dataset, run, questions, k, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.relevant_ids) = 0 OR NOT a.chunks_logged THEN null
    WHEN any(id IN a.ranking[0..coalesce(q.k, $k)] WHERE id IN q.relevant_ids) THEN 1.0 ELSE 0.0 END AS value,
  CASE WHEN size(q.relevant_ids) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
