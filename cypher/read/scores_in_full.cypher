// title: Scores in full
// answers: What are the scores of a run by a measure, with their reasons and explanations?
// parameters: run, measure
// columns: question, value, reason, grade, label, explanation, grader, confidence, gold_hash, k
MATCH (r:Run {id: $run})
MATCH (s:Score {run: $run, measure: $measure})
OPTIONAL MATCH (q:Question {dataset: r.dataset, id: s.question})
RETURN s.question AS question, s.value AS value, s.reason AS reason, s.grade AS grade, s.label AS label,
  s.explanation AS explanation, s.grader AS grader, s.confidence AS confidence, s.gold_hash AS gold_hash,
  q.k AS k
ORDER BY question
