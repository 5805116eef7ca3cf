// title: Load questions
// answers: Merges questions of a dataset with the lists that the measures read, and links those that are new to the dataset.
// parameters: dataset, rows
// columns:
MATCH (d:Dataset {name: $dataset})
UNWIND $rows AS row
MERGE (q:Question {dataset: $dataset, id: row.id})
SET q = row.properties
// A question that was there has none if a version before 15 wrote it.
WITH d, q, row WHERE row.new OR NOT EXISTS { MATCH (q)<-[:HAS]-(:Dataset) }
CREATE (d)-[:HAS]->(q)
