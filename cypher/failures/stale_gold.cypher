// title: Questions with stale gold
// answers: Which questions are invalid and not scored because the knowledge graph doesn't hold their gold?
// order: 30
// parameters: run, question = null, limit = 20
// columns: question, difficulty, reason
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH r, q WHERE q.invalid <> ''
  AND (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
RETURN q.id AS question, q.difficulty AS difficulty, q.invalid AS reason
ORDER BY question
LIMIT $limit
