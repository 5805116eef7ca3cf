// title: Worst questions by a measure
// answers: On which questions is the run worst by a measure, with which value, and why have others none? For a measure of which lower values are better, lowest_first is false.
// order: 18
// parameters: run, measure = "EdgeRecall", lowest_first = true, question = null, limit = 20
// columns: question, value, counted, reason, grader
MATCH (s:Score {run: $run, measure: $measure}) WHERE $question IS NULL OR s.question = $question
RETURN s.question AS question, s.value AS value, s.counted AS counted, s.reason AS reason, s.grader AS grader
ORDER BY value IS NULL, CASE WHEN $lowest_first THEN value ELSE -value END, question
LIMIT $limit
