// title: Clear gold edges
// answers: Deletes the gold edges of questions of a dataset.
// parameters: dataset, ids
// columns:
MATCH (a)-[g:GOLD]->(b) WHERE g.question IN $ids AND g.dataset = $dataset
DELETE g
