// title: Complete gradings
// answers: Marks the scores of a run that some graders gave as all there, and by which form of the dataset they are.
// parameters: run, keys
// columns:
MATCH (r:Run {id: $run})-[:GRADED]->(g:Grading) WHERE g.key IN $keys
OPTIONAL MATCH (d:Dataset {name: r.dataset})
SET g.complete = true, g.gold = d.digest
