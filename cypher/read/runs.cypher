// title: Runs
// answers: Which runs does the graph hold, of which file, and which measures of them are scored?
// parameters:
// columns: id, dataset, complete, questions, failed, file, digest, measures
MATCH (r:Run)
RETURN r.id AS id, r.dataset AS dataset, r.complete AS complete, r.questions AS questions, r.failed AS failed,
  r.file AS file, r.digest AS digest, r.measures AS measures
ORDER BY id
