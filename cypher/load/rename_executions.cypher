// title: Rename the run of executions
// answers: Gives some executions of a run, with their tests, its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (e:Execution {run: $old})
WITH e LIMIT $limit
OPTIONAL MATCH (e)-[:RAN]->(t:CodeTestResult)
WITH e, collect(t) AS tests
FOREACH (t IN tests | SET t.run = $new)
SET e.run = $new
RETURN count(*) AS renamed
