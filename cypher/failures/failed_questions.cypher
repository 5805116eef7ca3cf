// title: Failed questions
// answers: Which questions did the run fail on, or have no record for?
// order: 20
// parameters: run, question = null, limit = 20
// columns: question, difficulty, error
MATCH (r:Run {id: $run})
MATCH (q:Question {dataset: r.dataset}) WHERE ($question IS NULL OR q.id = $question)
  AND (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a WHERE a IS NULL OR a.error IS NOT NULL
RETURN q.id AS question, q.difficulty AS difficulty,
  CASE WHEN a IS NULL THEN 'no record in the run' ELSE a.error END AS error
ORDER BY question
LIMIT $limit
