// title: Begin to rename runs
// answers: Gives runs their new names and marks them as incomplete; command is the former and the new name that finish it.
// parameters: rows, command
// columns:
UNWIND $rows AS row
MATCH (r:Run {id: row.old})
SET r.id = row.new, r.renamed_from = row.old, r.renaming = $command, r.complete = false
