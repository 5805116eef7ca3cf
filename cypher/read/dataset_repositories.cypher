// title: Repositories of a dataset
// answers: Which repositories does the dataset of a run name, or without a run any dataset?
// parameters: run
// columns: repo
MATCH (d:Dataset) WHERE $run IS NULL OR EXISTS { MATCH (r:Run) WHERE r.id = $run AND r.dataset = d.name }
UNWIND d.repositories AS repo
RETURN DISTINCT repo
ORDER BY repo
