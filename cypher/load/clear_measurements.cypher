// title: Clear measurements
// answers: Deletes some of the measurements of a run by some measures, and tells how many.
// parameters: run, measures, limit
// columns: deleted
MATCH (m:Measurement {run: $run}) WHERE m.measure IN $measures
WITH m LIMIT $limit
DELETE m
RETURN count(*) AS deleted
