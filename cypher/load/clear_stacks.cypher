// title: Clear compatibility
// answers: Deletes the compatibility rows of a dataset.
// parameters: dataset
// columns:
MATCH (s:Stack {dataset: $dataset}) DETACH DELETE s
