// title: Known run
// answers: What does the graph hold of a run?
// parameters: id
// columns: dataset, digest, content, complete, file, origin
MATCH (r:Run {id: $id})
RETURN r.dataset AS dataset, r.digest AS digest, r.content AS content, r.complete AS complete, r.file AS file,
  coalesce(r.origin, r.file) AS origin
