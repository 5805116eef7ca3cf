// title: Load artifact commits
// answers: Stores the commit and the lines at which a knowledge graph read each artifact.
// parameters: rows, graph
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {id: row.id})
MATCH (c:Commit {key: row.commit_key})
CREATE (a)-[:AT {graph: $graph, line: row.line, end_line: row.end_line}]->(c)
