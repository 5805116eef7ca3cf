// title: Link claims again
// answers: Links some of the claims of a judge on a run to answers that were loaded again, and returns how many.
// parameters: run, name, limit
// columns: linked
MATCH (n:Claim {run: $run, judge: $name}) WHERE NOT EXISTS { MATCH (n)<-[:CLAIMS]-(:Answer) }
MATCH (a:Answer {run: $run, question: n.question})
WITH n, a LIMIT $limit
CREATE (a)-[:CLAIMS]->(n)
RETURN count(*) AS linked
