// title: Load chunks
// answers: Merges chunks, and links those that are new to their commit.
// parameters: rows
// columns:
UNWIND $rows AS row
MERGE (c:Chunk {digest: row.digest})
ON CREATE SET c = row.properties
WITH c
OPTIONAL MATCH (m:Commit {key: coalesce(c.commit_key, '')}) WHERE NOT EXISTS { MATCH (c)-[:AT]->(:Commit) }
FOREACH (x IN CASE WHEN m IS NULL THEN [] ELSE [m] END | CREATE (c)-[:AT]->(x))
