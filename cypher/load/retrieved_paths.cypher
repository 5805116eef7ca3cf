// title: Load retrieved paths
// answers: Creates each retrieved path as a node that holds its steps in order.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {key: row.answer})
CREATE (a)-[:WALKED]->(p:RetrievedPath)
SET p = row.properties
