// title: Known run
// answers: What does the graph hold of a run?
// parameters: id
// columns: dataset, digest, content, complete, file, kept, schema, origin
MATCH (r:Run {id: $id})
RETURN r.dataset AS dataset, r.digest AS digest, r.content AS content, r.complete AS complete, r.file AS file,
  r.kept AS kept, r.schema AS schema,
  coalesce(r.origin, r.file) AS origin
