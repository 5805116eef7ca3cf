// title: Grades of an answer
// answers: Which judges graded an answer by the rubric, and does each of them call it fully correct?
// parameters: run, question
// columns: judge, right
MATCH (:Answer {run: $run, question: $question})-[:JUDGED]->(v:Verdict) WHERE v.grader = 'rubric' AND v.grade IS NOT NULL
RETURN v.judge AS judge, v.grade = 'fully_correct' AS right
ORDER BY judge
