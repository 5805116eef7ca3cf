// title: Link scores again
// answers: Links some of the scores of a run by a measure to answers that were loaded again, and returns how many.
// parameters: run, name, limit
// columns: linked
MATCH (s:Score {run: $run, measure: $name}) WHERE NOT EXISTS { MATCH (s)<-[:SCORED]-(:Answer) }
MATCH (a:Answer {run: $run, question: s.question})
WITH s, a LIMIT $limit
CREATE (a)-[:SCORED]->(s)
RETURN count(*) AS linked
