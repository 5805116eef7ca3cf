// title: Open a run
// answers: Marks a run that holds a chunk without a commit, or a commit named by a tag or a prefix.
// parameters: id
// columns:
MATCH (r:Run {id: $id})
SET r.open = true
