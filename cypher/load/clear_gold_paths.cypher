// title: Clear gold paths
// answers: Deletes the gold paths of questions.
// parameters: dataset, ids
// columns:
UNWIND $ids AS id
MATCH (q:Question {dataset: $dataset, id: id})-[:EXPECTS]->(p:GoldPath)
DETACH DELETE p
