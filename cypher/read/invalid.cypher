// title: Invalid questions
// answers: Which questions of a dataset are not scored, and why?
// parameters: dataset
// columns: question, reason
MATCH (q:Question {dataset: $dataset}) WHERE q.invalid <> ''
RETURN q.id AS question, q.invalid AS reason
