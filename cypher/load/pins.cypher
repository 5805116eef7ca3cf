// title: Pins of questions
// answers: At which commits are the questions of a dataset annotated, by their stacks and themselves?
// parameters: dataset
// columns: question, stack, repositories, shas
MATCH (q:Question {dataset: $dataset})
RETURN q.id AS question, q.stack AS stack, q.pinned_repositories AS repositories, q.pinned_shas AS shas
ORDER BY question
