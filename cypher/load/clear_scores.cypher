// title: Clear scores
// answers: Deletes some of the scores of a run by some measures, or by all where none is named, and tells how many.
// parameters: run, measures, limit
// columns: deleted
MATCH (s:Score {run: $run}) WHERE $measures IS NULL OR s.measure IN $measures
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS deleted
