// title: Runs without directions
// answers: Which runs of a dataset hold edges whose log has lost their direction?
// parameters: dataset
// columns: run
MATCH (r:Run {dataset: $dataset}) WHERE r.directionless
RETURN r.id AS run
ORDER BY run
