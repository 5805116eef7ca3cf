// title: Rename the run of answers
// answers: Gives some answers of a run, with their paths, its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (a:Answer {run: $old})
WITH a LIMIT $limit
OPTIONAL MATCH (a)-[:WALKED]->(p:RetrievedPath)
WITH a, collect(p) AS paths
FOREACH (p IN paths | SET p.run = $new)
SET a.run = $new
RETURN count(*) AS renamed
