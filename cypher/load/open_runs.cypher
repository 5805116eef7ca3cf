// title: Runs to be told commits
// answers: Which runs of a dataset hold a chunk without a commit, or a commit named by a tag or a prefix?
// parameters: dataset
// columns: run
MATCH (r:Run {dataset: $dataset}) WHERE r.open
RETURN r.id AS run
ORDER BY run
