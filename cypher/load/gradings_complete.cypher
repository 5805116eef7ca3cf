// title: Complete gradings
// answers: Marks the scores of a run by some measures as all there, and by which form of the dataset they are.
// parameters: run, measures
// columns:
MATCH (r:Run {id: $run})-[:GRADED]->(g:Grading) WHERE g.measure IN $measures
OPTIONAL MATCH (d:Dataset {name: r.dataset})
SET g.complete = true, g.gold = d.digest
