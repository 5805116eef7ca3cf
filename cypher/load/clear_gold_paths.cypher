// title: Clear gold paths
// answers: Deletes the gold paths of questions.
// parameters: ids
// columns:
UNWIND $ids AS id
MATCH (q:Question {id: id})-[:EXPECTS]->(p:GoldPath)
DETACH DELETE p
