// title: Load the commits of paths
// answers: Stores the commits of retrieved paths that don't name them by their shas.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {key: row.answer})-[:WALKED]->(p:RetrievedPath) WHERE p.index = row.index
SET p.commits = row.commits
