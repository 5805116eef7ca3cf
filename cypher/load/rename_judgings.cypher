// title: Rename the run of judgings
// answers: Gives judgings of a run its new name, and the keys that follow from it.
// parameters: new, rows
// columns:
UNWIND $rows AS row
MATCH (n:Judging {key: row.old})
SET n.run = $new, n.key = row.new
