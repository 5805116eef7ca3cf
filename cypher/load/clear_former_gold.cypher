// title: Clear gold edges of the former form
// answers: Deletes the gold edges of questions that a version before 15 wrote, which don't name their dataset.
// parameters: ids
// columns:
MATCH (a)-[g:GOLD]->(b) WHERE g.question IN $ids AND g.dataset IS NULL
DELETE g
