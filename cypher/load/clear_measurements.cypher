// title: Clear measurements
// answers: Deletes some of the measurements of a run by some measures, or by all where none is named, and tells how many.
// parameters: run, measures, limit
// columns: deleted
MATCH (m:Measurement {run: $run}) WHERE $measures IS NULL OR m.measure IN $measures
WITH m LIMIT $limit
DELETE m
RETURN count(*) AS deleted
