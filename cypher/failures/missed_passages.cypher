// title: Missed passages
// answers: Which relevant ids did the run not retrieve, and how many of the question's did it?
// order: 75
// parameters: run, question = null, limit = 20
// columns: question, relevant, gain, found, required
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND a.chunks_logged
WITH q, coalesce(q.relevant_ids, []) AS relevant, coalesce(a.ranking, []) AS ranking
WITH q, relevant, [i IN range(0, size(relevant) - 1) WHERE NOT relevant[i] IN ranking] AS missed
UNWIND missed AS i
RETURN q.id AS question, relevant[i] AS relevant, q.gains[i] AS gain, size(relevant) - size(missed) AS found,
  size(relevant) AS required
ORDER BY question, gain DESC, relevant
LIMIT $limit
