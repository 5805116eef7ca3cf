// title: Keep a reservation
// answers: Tells that a load is still under way.
// parameters: name, owner
// columns:
MATCH (l:Load {name: $name}) WHERE l.owner = $owner
SET l.heartbeat = timestamp()
