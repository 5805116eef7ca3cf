// title: Abandon a load
// answers: Marks a load as interrupted.
// parameters: name, owner
// columns:
MATCH (l:Load {name: $name}) WHERE l.owner = $owner
SET l.owner = 'nobody'
