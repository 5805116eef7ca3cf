// title: Answers of a run
// answers: Which questions of the dataset has the run answered, failed on, or no record for? Of a run that is stored in part, only the stored ones.
// parameters: dataset, run
// columns: question, missing, failed, category, difficulty, group
MATCH (r:Run {id: $run})
MATCH (q:Question {dataset: $dataset}) WHERE (r.kept IS NULL OR EXISTS { MATCH (q)<-[:KEPT]-(k:Run) WHERE k.id = $run })
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
RETURN q.id AS question, a IS NULL AS missing, a.error IS NOT NULL AS failed,
  q.category AS category, q.difficulty AS difficulty, q.group AS group
ORDER BY question
