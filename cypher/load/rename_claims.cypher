// title: Rename the run of claims
// answers: Gives claims of a run its new name, and the keys that follow from it.
// parameters: new, rows
// columns:
UNWIND $rows AS row
MATCH (n:Claim {key: row.old})
SET n.run = $new, n.key = row.new
