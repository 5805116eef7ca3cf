// title: Load artifact commits
// answers: Tells at which commit a knowledge graph read each artifact, and on which lines.
// parameters: rows, graph
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {id: row.id})
MATCH (c:Commit {key: row.commit_key})
CREATE (a)-[:AT {graph: $graph, line: row.line, end_line: row.end_line}]->(c)
