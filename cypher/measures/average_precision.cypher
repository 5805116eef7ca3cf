// title: Average precision
// answers: How early does the ranking hold all relevant ids?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, [i IN range(0, size(coalesce(a.ranking, [])) - 1) WHERE a.ranking[i] IN q.relevant_ids] AS places
// An id counts at its first rank.
WITH q, places, a, [i IN places | a.ranking[i]] AS found
WITH q, a, [n IN range(0, size(places) - 1) WHERE NOT found[n] IN found[0..n] | places[n]] AS firsts
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.relevant_ids) = 0 OR NOT a.chunks_logged THEN null
    ELSE reduce(sum = 0.0, n IN range(0, size(firsts) - 1) | sum + toFloat(n + 1) / (firsts[n] + 1))
      / size(q.relevant_ids) END AS value,
  CASE WHEN size(q.relevant_ids) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
