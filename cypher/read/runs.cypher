// title: Runs
// answers: Which runs does the graph hold?
// parameters:
// columns: id, dataset, complete, questions, failed
MATCH (r:Run)
RETURN r.id AS id, r.dataset AS dataset, r.complete AS complete, r.questions AS questions, r.failed AS failed
ORDER BY id
