// title: Clear kept questions
// answers: Deletes some of the links from a run to the questions of it that are stored, and returns how many.
// parameters: run, limit
// columns: deleted
MATCH (:Run {id: $run})-[k:KEPT]->(:Question)
WITH k LIMIT $limit
DELETE k
RETURN count(*) AS deleted
