// title: Load the commits of paths
// answers: Stores the commits of retrieved paths that don't name them by their shas.
// parameters: run, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})-[:WALKED]->(p:RetrievedPath) WHERE p.index = row.index
SET p.commits = row.commits
