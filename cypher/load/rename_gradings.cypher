// title: Rename the run of gradings
// answers: Gives some gradings of a run its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (n:Grading {run: $old})
WITH n LIMIT $limit
SET n.run = $new
RETURN count(*) AS renamed
