// title: Load gold edges
// answers: Creates each gold step as an edge between its artifacts, and returns how many.
// parameters: dataset, artifacts, rows
// columns: joined
// Each artifact is looked up once; nothing is created if one is missing. Properties in the pattern are written once.
UNWIND $artifacts AS id
MATCH (n:Artifact {dataset: $dataset, id: id})
WITH collect(n) AS nodes WHERE [n IN nodes | n.id] = $artifacts
UNWIND $rows AS row
WITH row, nodes[row.from] AS a, nodes[row.to] AS b
CREATE (a)-[:GOLD {dataset: row.dataset, question: row.question, path: row.path, group: row.group, position: row.position,
  relation: row.relation, optional: row.optional, required: row.required, side: row.side}]->(b)
RETURN count(*) AS joined
