// title: Runs
// answers: Which runs does the graph hold, and of which file?
// parameters:
// columns: id, dataset, complete, questions, failed, file, digest
MATCH (r:Run)
RETURN r.id AS id, r.dataset AS dataset, r.complete AS complete, r.questions AS questions, r.failed AS failed,
  r.file AS file, r.digest AS digest
ORDER BY id
