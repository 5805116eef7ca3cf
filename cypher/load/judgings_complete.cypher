// title: Complete a judging
// answers: Marks the verdicts of a judge on a run as all there, and by which form of the dataset they are.
// parameters: run, key, verdicts
// columns:
MATCH (r:Run {id: $run})-[:JUDGED_BY]->(j:Judging {key: $key})
OPTIONAL MATCH (d:Dataset {name: r.dataset})
SET j.complete = true, j.verdicts = $verdicts, j.gold = d.digest
