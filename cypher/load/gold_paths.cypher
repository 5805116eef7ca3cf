// title: Load gold paths
// answers: Creates each gold path as a node that holds its steps in order.
// parameters: dataset, rows
// columns:
UNWIND $rows AS row
MATCH (q:Question {dataset: $dataset, id: row.question})
CREATE (q)-[:EXPECTS]->(p:GoldPath)
SET p = row.properties
