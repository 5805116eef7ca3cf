// title: Clear executions
// answers: Deletes some of the executions of a run with their tests, and returns how many.
// parameters: run, questions, limit
// columns: deleted
MATCH (e:Execution {run: $run}) WHERE $questions IS NULL OR e.question IN $questions
WITH e LIMIT $limit
OPTIONAL MATCH (e)-[:RAN]->(t:CodeTestResult)
WITH e, collect(t) AS tests
FOREACH (t IN tests | DETACH DELETE t)
DETACH DELETE e
RETURN count(*) AS deleted
