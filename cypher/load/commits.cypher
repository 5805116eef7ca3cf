// title: Load commits
// answers: Merges commits and their repositories.
// parameters: rows
// columns:
UNWIND $rows AS row
MERGE (r:Repository {name: row.repo})
MERGE (c:Commit {key: row.key})
SET c.repo = row.repo, c.sha = row.sha, c.branch = row.branch, c.tag = row.tag, c.parents = row.parents,
  c.committed_at = datetime(row.committed_at), c.committed_ms = row.committed_ms, c.listed = true
WITH c, r WHERE NOT EXISTS { MATCH (c)-[:IN]->(:Repository) }
CREATE (c)-[:IN]->(r)
