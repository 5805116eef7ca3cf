// title: Begin to judge
// answers: Names a judge of a run, of whose verdicts none is there yet.
// parameters: run, judge
// columns:
MATCH (r:Run {id: $run})
MERGE (j:Judging {run: $run, judge: $judge})
SET j.complete = false
MERGE (r)-[:JUDGED_BY]->(j)
