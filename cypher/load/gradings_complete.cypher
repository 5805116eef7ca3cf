// title: Complete gradings
// answers: Marks the scores of a run that some graders gave as all there, and by which form of the dataset they are.
// parameters: run, graders
// columns:
MATCH (r:Run {id: $run})-[:GRADED]->(g:Grading) WHERE [g.measure, g.grader] IN $graders
OPTIONAL MATCH (d:Dataset {name: r.dataset})
SET g.complete = true, g.gold = d.digest
