// title: Begin to grade
// answers: Names who grades a run by some measures, of which no score is there yet.
// parameters: run, rows
// columns:
MATCH (r:Run {id: $run})
UNWIND $rows AS row
MERGE (g:Grading {run: $run, measure: row.measure, grader: row.grader})
SET g.version = row.version, g.history = row.history,
  g.gold_hash = row.gold_hash, g.principal = row.principal, g.complete = false
MERGE (r)-[:GRADED]->(g)
