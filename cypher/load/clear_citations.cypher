// title: Clear citations
// answers: Deletes some of the citations of a run by a judge; all if none is named. Returns how many.
// parameters: run, judge, questions, limit
// columns: deleted
MATCH (n:Citation {run: $run}) WHERE ($judge IS NULL OR n.judge = $judge)
  AND ($questions IS NULL OR n.question IN $questions)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted
