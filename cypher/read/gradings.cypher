// title: Gradings
// answers: By which measures is a run scored, by whom, and by the dataset as it is now?
// parameters: run
// columns: measure, grader, version, complete, current
MATCH (r:Run {id: $run})-[:GRADED]->(g:Grading)
OPTIONAL MATCH (d:Dataset {name: r.dataset})
RETURN g.measure AS measure, g.grader AS grader, g.version AS version, g.complete AS complete,
  coalesce(g.gold = d.digest, false) AS current
ORDER BY measure
