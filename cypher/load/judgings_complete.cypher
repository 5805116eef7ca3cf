// title: Complete a judging
// answers: Marks the verdicts of a judge on a run as all there, and by which form of the dataset they are.
// parameters: run, judge, verdicts
// columns:
MATCH (r:Run {id: $run})-[:JUDGED_BY]->(j:Judging {judge: $judge})
OPTIONAL MATCH (d:Dataset {name: r.dataset})
SET j.complete = true, j.verdicts = $verdicts, j.gold = d.digest
