// title: Name the file of a run
// answers: Keeps where the log of a run is, that was moved.
// parameters: id, file, origin
// columns:
MATCH (r:Run {id: $id})
SET r.file = $file, r.origin = $origin
