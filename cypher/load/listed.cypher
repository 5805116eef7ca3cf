// title: List commits
// answers: Links a dataset to the commits that it lists, with their listed properties.
// parameters: dataset, rows
// columns:
MATCH (s:Dataset {name: $dataset})
UNWIND $rows AS row
MATCH (c:Commit {key: row.key})
CREATE (s)-[:LISTS {branch: row.branch, tags: row.tags, committed_at: datetime(row.committed_at),
  committed_ms: row.committed_ms}]->(c)
