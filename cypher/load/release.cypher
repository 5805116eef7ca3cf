// title: Release a reservation
// answers: Ends a load.
// parameters: name, owner
// columns:
MATCH (l:Load {name: $name}) WHERE l.owner = $owner
DELETE l
