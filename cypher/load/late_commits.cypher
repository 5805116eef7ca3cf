// title: Link chunks to commits
// answers: Links chunks to commits that were loaded after them.
// parameters:
// columns:
MATCH (c:Chunk) WHERE c.commit_key IS NOT NULL AND NOT EXISTS { MATCH (c)-[:AT]->(:Commit) }
MATCH (m:Commit {key: c.commit_key})
CREATE (c)-[:AT]->(m)
