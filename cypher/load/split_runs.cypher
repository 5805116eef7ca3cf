// title: Forget runs whose ids are split otherwise
// answers: Makes the runs of a dataset load anew when they are asked for again, since it names other files.
// parameters: dataset
// columns:
MATCH (r:Run {dataset: $dataset})
SET r.digest = ''
