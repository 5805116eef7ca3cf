// title: Runs to be told commits
// answers: Which runs of a dataset hold a commit that is named by what may mean another sha, or a chunk without one?
// parameters: dataset
// columns: run
MATCH (r:Run {dataset: $dataset}) WHERE r.open
RETURN r.id AS run
ORDER BY run
