// title: Begin to change a dataset
// answers: Forgets the digest of a dataset until it is completely loaded again.
// parameters: name
// columns:
MERGE (d:Dataset {name: $name})
REMOVE d.digest
