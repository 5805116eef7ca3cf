// title: Answers of a run
// answers: Which questions does a run already hold?
// parameters: run
// columns: question
MATCH (a:Answer {run: $run})
RETURN a.question AS question
