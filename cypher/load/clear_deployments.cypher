// title: Clear deployments
// answers: Deletes the deployments of a dataset.
// parameters: dataset
// columns:
MATCH (d:Deployment {dataset: $dataset}) DETACH DELETE d
