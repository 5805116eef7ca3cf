// title: Grades of whole answers
// answers: What do scores, verdicts and executions say about the whole answers of a run?
// parameters: run, measures, best, execution
// columns: question, measure, grader, right
UNWIND $measures AS measure
MATCH (s:Score {run: $run, measure: measure}) WHERE s.value IS NOT NULL
RETURN s.question AS question, s.measure AS measure, s.grader AS grader, s.value >= 1 AS right
UNION ALL
MATCH (v:Verdict {run: $run}) WHERE v.grader = 'rubric' AND v.grade IS NOT NULL
RETURN v.question AS question, 'RubricGrade' AS measure, v.judge AS grader, v.grade = $best AS right
UNION ALL
MATCH (e:Execution {run: $run})
RETURN e.question AS question, 'FactualCorrectness' AS measure, $execution AS grader, e.status = 'success' AS right
