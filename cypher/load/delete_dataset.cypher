// title: Delete a dataset
// answers: Deletes the node of a dataset, after all else of it.
// parameters: name
// columns:
MATCH (d:Dataset {name: $name})
DETACH DELETE d
