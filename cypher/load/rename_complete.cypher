// title: Complete renamed runs
// answers: Marks runs as complete: all that belongs to them has their new names.
// parameters: ids
// columns:
UNWIND $ids AS id
MATCH (r:Run {id: id})
SET r.complete = true
REMOVE r.renamed_from, r.renaming
