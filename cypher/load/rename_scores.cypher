// title: Rename the run of scores
// answers: Gives some scores of a run its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (n:Score {run: $old})
WITH n LIMIT $limit
SET n.run = $new
RETURN count(*) AS renamed
