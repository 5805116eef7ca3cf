// title: Clear gold edges
// answers: Deletes the gold edges of one question.
// parameters: question
// columns:
MATCH (a)-[g:GOLD]->(b) WHERE g.question = $question
DELETE g
