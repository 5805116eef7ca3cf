// title: Failed questions
// answers: Which questions did the run fail on, or have no record for?
// order: 20
// parameters: run, question = null, limit = 20
// columns: question, difficulty, error
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH r, q WHERE (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a WHERE a IS NULL OR a.error IS NOT NULL
RETURN q.id AS question, q.difficulty AS difficulty,
  CASE WHEN a IS NULL THEN 'no record in the run' ELSE a.error END AS error
ORDER BY question
LIMIT $limit
