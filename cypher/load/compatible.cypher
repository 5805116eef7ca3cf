// title: Load compatible pairs
// answers: Links each pair of commits of a compatible row.
// parameters: rows, dataset
// columns:
UNWIND $rows AS row
MATCH (c:Commit {key: row.first})
MATCH (d:Commit {key: row.second})
CREATE (c)-[:COMPATIBLE_WITH {stack: row.stack, dataset: $dataset, source: row.source}]->(d)
