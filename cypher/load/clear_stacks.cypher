// title: Clear compatibility
// answers: Deletes what a dataset said about commits that belong together.
// parameters: dataset
// columns:
MATCH (s:Stack {dataset: $dataset}) DETACH DELETE s
