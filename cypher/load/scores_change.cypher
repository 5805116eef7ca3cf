// title: Begin to replace scores
// answers: Takes measures off the list of those whose scores are all there.
// parameters: run, measures
// columns:
MATCH (r:Run {id: $run})
SET r.measures = [name IN coalesce(r.measures, []) WHERE NOT name IN $measures]
