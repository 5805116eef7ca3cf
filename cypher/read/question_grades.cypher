// title: Grades of answers
// answers: What do judges, persons and tests say about each of some whole answers?
// parameters: run, questions, measures, best, execution
// columns: question, measure, grader, right
UNWIND $questions AS id
MATCH (a:Answer {run: $run, question: id})
CALL (a) {
  MATCH (a)-[:JUDGED]->(v:Verdict) WHERE v.grader = 'rubric' AND v.grade IS NOT NULL
  RETURN 'RubricGrade' AS measure, v.judge AS grader, v.grade = $best AS right
  UNION ALL
  MATCH (a)-[:SCORED]->(s:Score) WHERE s.measure IN $measures AND s.value IS NOT NULL
  RETURN s.measure AS measure, s.grader AS grader, s.value >= 1 AS right
  UNION ALL
  MATCH (a)-[:EXECUTED]->(e:Execution)
  RETURN 'FactualCorrectness' AS measure, $execution AS grader, e.status = 'success' AS right
}
RETURN id AS question, measure, grader, right
ORDER BY measure, grader
