// title: Load deployments
// answers: Creates deployments: commits that were in use together.
// parameters: rows, dataset
// columns:
UNWIND $rows AS row
CREATE (d:Deployment {key: row.key, id: row.id, dataset: $dataset, environment: row.environment,
  at: datetime(row.at), source: row.source})
WITH d, row
UNWIND row.members AS member
MATCH (c:Commit {key: member})
CREATE (d)-[:DEPLOYS]->(c)
