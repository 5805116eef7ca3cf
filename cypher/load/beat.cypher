// title: Keep a reservation
// answers: Shows that a load still runs.
// parameters: name, owner
// columns:
MATCH (l:Load {name: $name}) WHERE l.owner = $owner
SET l.heartbeat = timestamp()
