// title: Clear traversed edges
// answers: Deletes some of the traversed edges of a run, and returns how many.
// parameters: run, questions, limit
// columns: deleted
MATCH (a)-[t:TRAVERSED]->(b) WHERE t.run = $run AND ($questions IS NULL OR t.question IN $questions)
WITH t LIMIT $limit
DELETE t
RETURN count(*) AS deleted
