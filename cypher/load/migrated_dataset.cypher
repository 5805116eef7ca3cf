// title: End the migration of a dataset
// answers: Scores, verdicts and executions by the gold of a dataset stay current, since its files are the same.
// parameters: name, former
// columns:
MATCH (d:Dataset {name: $name})
REMOVE d.former
WITH d
OPTIONAL MATCH (:Run {dataset: $name})-[:GRADED]->(g:Grading {gold: $former})
SET g.gold = d.digest
WITH DISTINCT d
OPTIONAL MATCH (:Run {dataset: $name})-[:JUDGED_BY]->(j:Judging {gold: $former})
SET j.gold = d.digest
WITH DISTINCT d
OPTIONAL MATCH (r:Run {dataset: $name, executed_gold: $former})
SET r.executed_gold = d.digest
