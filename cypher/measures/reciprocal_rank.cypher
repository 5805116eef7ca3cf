// title: Reciprocal rank
// answers: At which rank is the first relevant id?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, [i IN range(0, size(coalesce(a.ranking, [])) - 1) WHERE a.ranking[i] IN q.relevant_ids] AS places
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.relevant_ids) = 0 OR NOT a.chunks_logged THEN null
    WHEN size(places) = 0 THEN 0.0 ELSE 1.0 / (places[0] + 1) END AS value,
  CASE WHEN size(q.relevant_ids) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
