// title: Answers of a run
// answers: Which of these questions has the run answered, failed on, rightly declined, or no record for? Of a run that is stored in part, only the stored ones.
// parameters: run, questions
// columns: question, missing, failed, rightly_declined, category, difficulty, group, split, k
MATCH (r:Run {id: $run})
UNWIND $questions AS question
WITH r, question
MATCH (q:Question {dataset: r.dataset, id: question}) WHERE (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged
RETURN q.id AS question, a IS NULL AS missing, a.error IS NOT NULL AS failed,
  a.error IS NULL AND coalesce(CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END, false) AND NOT coalesce(q.answerable, true) AS rightly_declined,
  q.category AS category, q.difficulty AS difficulty, q.group AS group, q.split AS split, q.k AS k
