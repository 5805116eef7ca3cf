// title: Open a run
// answers: Marks a run that holds a commit which is named by what may mean another sha, or a chunk without one.
// parameters: id
// columns:
MATCH (r:Run {id: $id})
SET r.open = true
