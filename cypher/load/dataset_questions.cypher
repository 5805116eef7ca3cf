// title: Questions of a dataset
// answers: Which questions does a dataset hold?
// parameters: dataset
// columns: id
MATCH (q:Question {dataset: $dataset})
RETURN q.id AS id
