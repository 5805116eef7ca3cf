// title: Loads under way
// answers: Which loads were begun and not ended, which of them remove, and which rename a run, by which command?
// parameters:
// columns: name, owner, age_ms, finish, renaming, removes
MATCH (l:Load)
OPTIONAL MATCH (r:Run) WHERE r.renaming IS NOT NULL AND l.name IN ['run ' + r.renamed_from, 'run ' + r.id]
RETURN l.name AS name, l.owner AS owner, timestamp() - l.heartbeat AS age_ms, l.finish AS finish,
  r.renaming AS renaming, l.removes AS removes
