// title: Loads under way
// answers: Which loads were begun and not ended?
// parameters:
// columns: name, owner, age_ms, finish
MATCH (l:Load)
RETURN l.name AS name, l.owner AS owner, timestamp() - l.heartbeat AS age_ms, l.finish AS finish
