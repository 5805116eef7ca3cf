// title: Rename the run of judgings
// answers: Gives some judgings of a run its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (n:Judging {run: $old})
WITH n LIMIT $limit
SET n.run = $new
RETURN count(*) AS renamed
