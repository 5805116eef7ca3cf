// title: Load questions
// answers: Merges questions with the lists that the measures read.
// parameters: rows
// columns:
UNWIND $rows AS row
MERGE (q:Question {id: row.id})
SET q = row.properties
