// title: Reserve a load
// answers: Takes a load, or a removal, for one process, unless another one holds it.
// parameters: name, owner, stale_ms, dead, removes
// columns: owner
MERGE (l:Load {name: $name})
ON CREATE SET l.owner = $owner, l.heartbeat = timestamp(), l.started_at = datetime()
WITH l, (l.owner = $owner OR timestamp() - l.heartbeat > $stale_ms OR l.owner IN $dead) AS mine
SET l.owner = CASE WHEN mine THEN $owner ELSE l.owner END,
  l.removes = CASE WHEN mine THEN $removes ELSE l.removes END,
  l.heartbeat = CASE WHEN mine THEN timestamp() ELSE l.heartbeat END
RETURN l.owner AS owner
