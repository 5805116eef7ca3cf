// title: Link citations again
// answers: Links some of the citations of a judge on a run to answers that were loaded again, and returns how many.
// parameters: run, name, limit
// columns: linked
MATCH (n:Citation {run: $run, judge: $name}) WHERE NOT EXISTS { MATCH (n)<-[:CITES]-(:Answer) }
MATCH (a:Answer {run: $run, question: n.question})
WITH n, a LIMIT $limit
CREATE (a)-[:CITES]->(n)
RETURN count(*) AS linked
