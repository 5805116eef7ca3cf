// title: Begin to change a dataset
// answers: Forgets in which form a dataset was loaded, until it is loaded whole again.
// parameters: name
// columns:
MERGE (d:Dataset {name: $name})
REMOVE d.digest
