// title: Load traversed edges
// answers: Creates each traversed step as an edge between its artifacts.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {id: row.source})
MATCH (b:Artifact {id: row.target})
CREATE (a)-[t:TRAVERSED]->(b)
SET t = row.properties
