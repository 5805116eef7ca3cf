// title: Same questions
// answers: How many of some questions does the dataset hold with the same text?
// parameters: dataset, rows
// columns: same
UNWIND $rows AS row
MATCH (q:Question {dataset: $dataset, id: row.id}) WHERE q.question = row.question
RETURN count(*) AS same
