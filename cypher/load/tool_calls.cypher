// title: Load tool calls
// answers: Creates each call of a tool, with the artifacts that it showed, in order, and returns how many calls.
// parameters: dataset, run, artifacts, rows
// columns: joined
// Each artifact is looked up once; nothing is created if one is missing.
UNWIND CASE WHEN size($artifacts) = 0 THEN [null] ELSE $artifacts END AS id
OPTIONAL MATCH (n:Artifact {dataset: $dataset, id: id})
WITH collect(n) AS nodes WHERE [n IN nodes | n.id] = $artifacts
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})
CREATE (a)-[:CALLED]->(c:ToolCall)
SET c = row.properties
FOREACH (place IN range(0, size(row.seen) - 1) |
  FOREACH (n IN [nodes[row.seen[place]]] | CREATE (c)-[:SAW {place: place}]->(n)))
RETURN count(*) AS joined
