// title: Load the histories of a dataset
// answers: Stores which histories belong to the repositories of a dataset.
// parameters: name, histories
// columns:
MATCH (d:Dataset {name: $name})
SET d.histories = $histories
