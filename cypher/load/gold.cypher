// title: Load gold edges
// answers: Creates each gold step as an edge between its artifacts.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {id: row.source})
MATCH (b:Artifact {id: row.target})
CREATE (a)-[g:GOLD]->(b)
SET g = row.properties
