// title: Clear gold edges
// answers: Deletes the gold edges of questions.
// parameters: ids
// columns:
MATCH (a)-[g:GOLD]->(b) WHERE g.question IN $ids
DELETE g
