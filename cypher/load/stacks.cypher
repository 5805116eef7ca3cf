// title: Load stacks
// answers: Creates the sets of commits that did, or did not, work together.
// parameters: rows, dataset
// columns:
UNWIND $rows AS row
CREATE (s:Stack {key: row.key, id: row.id, dataset: $dataset, compatible: row.compatible,
  environment: row.environment, source: row.source,
  repositories: row.repositories, names: row.names})
WITH s, row
UNWIND row.members AS member
MATCH (c:Commit {key: member})
CREATE (s)-[:PINS]->(c)
