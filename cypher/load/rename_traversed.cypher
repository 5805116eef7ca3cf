// title: Rename the run of traversed edges
// answers: Gives some traversed edges of a run its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (a)-[t:TRAVERSED]->(b) WHERE t.run = $old
WITH t LIMIT $limit
SET t.run = $new
RETURN count(*) AS renamed
