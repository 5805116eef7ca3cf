// title: Load tool calls
// answers: Creates each call of a tool, with the artifacts that it showed, in order.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {key: row.answer})
CREATE (a)-[:CALLED]->(c:ToolCall)
SET c = row.properties
WITH c, row
UNWIND range(0, size(row.seen) - 1) AS place
MATCH (n:Artifact {id: row.seen[place]})
CREATE (c)-[:SAW {place: place}]->(n)
