// title: Load edges
// answers: Creates the edges of a knowledge graph, and returns how many.
// parameters: dataset, artifacts, rows, graph
// columns: joined
// Each artifact is looked up once; nothing is created if one is missing.
UNWIND $artifacts AS id
MATCH (n:Artifact {dataset: $dataset, id: id})
WITH collect(n) AS nodes WHERE [n IN nodes | n.id] = $artifacts
UNWIND $rows AS row
WITH row, nodes[row.from] AS a, nodes[row.to] AS b
CREATE (a)-[:EDGE {graph: $graph, relation: row.relation, since: row.since, until: row.until}]->(b)
RETURN count(*) AS joined
