// title: Load edges
// answers: Creates the edges of a knowledge graph.
// parameters: rows, graph
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {id: row.source})
MATCH (b:Artifact {id: row.target})
CREATE (a)-[:EDGE {graph: $graph, relation: row.relation}]->(b)
