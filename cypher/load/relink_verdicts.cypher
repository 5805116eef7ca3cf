// title: Link verdicts again
// answers: Links some of the verdicts of a judge on a run to answers that were loaded again, and returns how many.
// parameters: run, name, limit
// columns: linked
MATCH (n:Verdict {run: $run, judge: $name}) WHERE NOT EXISTS { MATCH (n)<-[:JUDGED]-(:Answer) }
MATCH (a:Answer {run: $run, question: n.question})
WITH n, a LIMIT $limit
CREATE (a)-[:JUDGED]->(n)
RETURN count(*) AS linked
