// title: Texts of answers
// answers: What did a run answer to some questions?
// parameters: run, questions
// columns: question, answer
MATCH (a:Answer {run: $run}) WHERE a.question IN $questions
RETURN a.question AS question, coalesce(a.answer, '') AS answer
