// title: Link executions again
// answers: Links some of the executions of a run to answers that were loaded again, and returns how many.
// parameters: run, limit
// columns: linked
MATCH (e:Execution {run: $run}) WHERE NOT EXISTS { MATCH (e)<-[:EXECUTED]-(:Answer) }
MATCH (a:Answer {run: $run, question: e.question})
WITH e, a LIMIT $limit
CREATE (a)-[:EXECUTED]->(e)
RETURN count(*) AS linked
