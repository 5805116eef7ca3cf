// title: Load the histories of a dataset
// answers: Tells of which repositories a dataset knows the history that was read.
// parameters: name, histories
// columns:
MATCH (d:Dataset {name: $name})
SET d.histories = $histories
