// title: Load artifact commits
// answers: Stores the commit and the lines at which a knowledge graph read each artifact.
// parameters: dataset, rows, graph
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {dataset: $dataset, id: row.id})
MATCH (c:Commit {key: row.commit_key})
CREATE (a)-[:AT {graph: $graph, line: row.line, end_line: row.end_line}]->(c)
