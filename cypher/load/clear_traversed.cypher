// title: Clear traversed edges
// answers: Deletes some of the traversed edges of a run, and returns how many.
// parameters: run, limit
// columns: deleted
MATCH (a)-[t:TRAVERSED]->(b) WHERE t.run = $run
WITH t LIMIT $limit
DELETE t
RETURN count(*) AS deleted
