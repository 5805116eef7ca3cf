// title: Decisions
// answers: Which answers of a run are right, who says so, and what does the text of each alone say?
// parameters: run, measure
// columns: question, right, by, by_text, text
MATCH (s:Score {run: $run, measure: $measure})
RETURN s.question AS question, s.value = 1 AS right, coalesce(s.grader, s.reason) AS by, s.by_text AS by_text, s.text AS text
