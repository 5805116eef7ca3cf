// title: Begin a run
// answers: Creates a run that isn't complete yet.
// parameters: id, dataset, digest, file
// columns:
MERGE (r:Run {id: $id})
SET r.dataset = $dataset, r.digest = $digest, r.file = $file, r.complete = false
