// title: Rename the run of verdicts
// answers: Gives some verdicts of a run its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (n:Verdict {run: $old})
WITH n LIMIT $limit
SET n.run = $new
RETURN count(*) AS renamed
