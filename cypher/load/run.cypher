// title: Begin a run
// answers: Creates a run that isn't complete yet.
// parameters: id, dataset, digest, content, file, origin
// columns:
MERGE (r:Run {id: $id})
SET r.dataset = $dataset, r.digest = $digest, r.content = $content, r.file = $file, r.origin = $origin,
  r.complete = false
