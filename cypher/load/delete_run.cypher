// title: Delete a run
// answers: Deletes the node of a run, after all else of it.
// parameters: id
// columns:
MATCH (r:Run {id: $id})
DETACH DELETE r
