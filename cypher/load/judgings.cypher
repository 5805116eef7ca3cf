// title: Begin to judge
// answers: Names a judge of a run, of whose verdicts none is there yet.
// parameters: run, judge, key
// columns:
MATCH (r:Run {id: $run})
MERGE (j:Judging {key: $key})
SET j.run = $run, j.judge = $judge, j.complete = false
MERGE (r)-[:JUDGED_BY]->(j)
