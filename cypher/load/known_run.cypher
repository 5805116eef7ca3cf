// title: Known run
// answers: What does the graph hold of a run?
// parameters: id
// columns: dataset, digest, complete, file
MATCH (r:Run {id: $id})
RETURN r.dataset AS dataset, r.digest AS digest, r.complete AS complete, r.file AS file
