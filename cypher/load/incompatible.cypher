// title: Load incompatible pairs
// answers: Links each pair of commits of an incompatible row.
// parameters: rows, dataset
// columns:
UNWIND $rows AS row
MATCH (c:Commit {key: row.first})
MATCH (d:Commit {key: row.second})
CREATE (c)-[:INCOMPATIBLE_WITH {stack: row.stack, dataset: $dataset, source: row.source}]->(d)
