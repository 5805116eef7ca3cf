// title: Runs
// answers: Which runs does the graph hold, and of which file?
// parameters:
// columns: id, dataset, complete, questions, failed, file, origin, digest
MATCH (r:Run)
RETURN r.id AS id, r.dataset AS dataset, r.complete AS complete, r.questions AS questions, r.failed AS failed,
  r.file AS file, coalesce(r.origin, r.file) AS origin, r.digest AS digest
ORDER BY id
