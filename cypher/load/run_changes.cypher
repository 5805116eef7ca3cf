// title: Begin to replace a run
// answers: Marks a run as incomplete, before anything of it is deleted.
// parameters: id
// columns:
MATCH (r:Run {id: $id})
SET r.complete = false, r.digest = ''
