// title: nDCG at k
// answers: How much of the gain of the best order is in the top k, discounted by rank?
// parameters: dataset, run, questions, k, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, coalesce(a.ranking, [])[0..coalesce(q.k, $k)] AS top
// An id counts at its first rank; gains are stored best first.
WITH q, a, reduce(sum = 0.0, i IN range(0, size(top) - 1) | sum + CASE WHEN top[i] IN top[0..i] THEN 0.0
    ELSE reduce(gain = 0.0, j IN range(0, size(q.relevant_ids) - 1) |
      CASE WHEN q.relevant_ids[j] = top[i] THEN q.gains[j] ELSE gain END) * log(2) / log(i + 2) END) AS dcg,
  reduce(sum = 0.0, j IN range(0, size(q.gains[0..coalesce(q.k, $k)]) - 1) |
    sum + q.gains[j] * log(2) / log(j + 2)) AS ideal
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR NOT q.judged OR NOT a.chunks_logged THEN null
    WHEN ideal = 0 THEN 0.0 ELSE dcg / ideal END AS value,
  CASE WHEN NOT q.judged THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
