// title: Load the commits that compatibility rows name
// answers: Merges commits of which only the repository and the sha are known.
// parameters: rows
// columns:
UNWIND $rows AS row
MERGE (r:Repository {name: row.repo})
MERGE (c:Commit {key: row.key})
ON CREATE SET c.repo = row.repo, c.sha = row.sha, c.history = false, c.parents = []
WITH c, r WHERE NOT EXISTS { MATCH (c)-[:IN]->(:Repository) }
CREATE (c)-[:IN]->(r)
