// title: Begin a dataset in part
// answers: Marks a dataset whose questions are stored only in part.
// parameters: name
// columns:
MERGE (d:Dataset {name: $name})
SET d.partial = true
