// title: Clear judgings
// answers: Deletes the judgings of a run, before its verdicts are deleted.
// parameters: run
// columns:
MATCH (j:Judging {run: $run})
DETACH DELETE j
