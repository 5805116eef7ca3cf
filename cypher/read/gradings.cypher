// title: Gradings
// answers: By which measures is a run scored, by which graders, and are scores that graphkit computed still current?
// parameters: run, own
// columns: measure, grader, version, complete, history, gold_hash, current
OPTIONAL MATCH (h:Repository)
WITH sum(coalesce(h.changes, 0)) AS changes
MATCH (r:Run {id: $run})-[:GRADED]->(g:Grading)
OPTIONAL MATCH (d:Dataset {name: r.dataset})
RETURN g.measure AS measure, CASE WHEN g.grader = '' THEN null ELSE g.grader END AS grader, g.version AS version, g.complete AS complete, g.history AS history,
  g.gold_hash AS gold_hash,
  g.grader <> $own OR (coalesce(g.gold = d.digest, false) AND coalesce(g.history = changes, true)) AS current
ORDER BY measure
