// title: Clear principals
// answers: Deletes the principals of a dataset.
// parameters: dataset
// columns:
MATCH (p:Principal {dataset: $dataset}) DETACH DELETE p
