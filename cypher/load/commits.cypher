// title: Load commits
// answers: Merges commits and their repositories. A dataset never overwrites what the history of a repository says about a commit.
// parameters: rows, history
// columns:
UNWIND $rows AS row
MERGE (r:Repository {name: row.repo})
MERGE (c:Commit {key: row.key})
SET c.repo = row.repo, c.sha = row.sha, c.history = $history OR coalesce(c.history, false)
FOREACH (x IN CASE WHEN $history OR NOT c.history THEN [c] ELSE [] END |
  SET x.branch = row.branch, x.tag = row.tag, x.tags = row.tags, x.parents = row.parents, x.committed_at = datetime(row.committed_at),
    x.committed_ms = row.committed_ms)
WITH c, r WHERE NOT EXISTS { MATCH (c)-[:IN]->(:Repository) }
CREATE (c)-[:IN]->(r)
