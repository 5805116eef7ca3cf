// title: Datasets of a question
// answers: Which datasets have a question with this id?
// parameters: id
// columns: dataset
MATCH (q:Question {id: $id})
RETURN q.dataset AS dataset
