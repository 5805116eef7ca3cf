// title: Clear comparisons of answers
// answers: Deletes some of the comparisons of two runs by a judge's model and some criteria, and returns how many.
// parameters: first, second, judge, model, differential, criteria, limit
// columns: deleted
MATCH (a:Answer {run: $first})-[c:COMPARED]-(b:Answer {run: $second})
WHERE c.judge = $judge AND c.model = $model AND c.differential = $differential AND c.criterion IN $criteria
WITH DISTINCT c LIMIT $limit
DELETE c
RETURN count(*) AS deleted
