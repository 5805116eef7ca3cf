// title: Rename interrupted loads
// answers: Gives the interrupted loads of a run its new name, unless such a load is there.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (l:Load {name: row.old})
OPTIONAL MATCH (t:Load {name: row.new})
FOREACH (x IN CASE WHEN t IS NULL THEN [l] ELSE [] END | SET x.name = row.new)
FOREACH (x IN CASE WHEN t IS NULL THEN [] ELSE [l] END | DELETE x)
