// title: Grades of answers
// answers: Which judges graded each of some answers by the rubric, and does each of them call it fully correct?
// parameters: run, questions
// columns: question, judge, right
UNWIND $questions AS id
MATCH (:Answer {run: $run, question: id})-[:JUDGED]->(v:Verdict) WHERE v.grader = 'rubric' AND v.grade IS NOT NULL
RETURN id AS question, v.judge AS judge, v.grade = 'fully_correct' AS right
ORDER BY judge
