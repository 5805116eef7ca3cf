// title: Load retrieved paths
// answers: Creates each retrieved path as a node that holds its steps in order.
// parameters: run, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})
CREATE (a)-[:WALKED]->(p:RetrievedPath)
SET p = row.properties
