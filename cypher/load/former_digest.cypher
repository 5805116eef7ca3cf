// title: Begin to migrate a dataset
// answers: Keeps the digest under which a dataset was loaded by an earlier graphkit, so that a migration that was interrupted can go on.
// parameters: name, former
// columns:
MATCH (d:Dataset {name: $name})
SET d.former = $former
