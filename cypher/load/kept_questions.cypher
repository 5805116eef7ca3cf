// title: Kept questions
// answers: Which questions of a run that is stored in part are stored?
// parameters: run
// columns: id
MATCH (:Run {id: $run})-[:KEPT]->(q:Question)
RETURN q.id AS id
