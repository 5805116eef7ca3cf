// title: Complete scores
// answers: Marks the scores of a run by some measures as all there.
// parameters: run, measures
// columns:
MATCH (r:Run {id: $run})
SET r.measures = [name IN coalesce(r.measures, []) WHERE NOT name IN $measures] + $measures
