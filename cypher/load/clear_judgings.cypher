// title: Clear judgings
// answers: Deletes what is known of the judges of a run, before their verdicts themselves are deleted.
// parameters: run
// columns:
MATCH (j:Judging {run: $run})
DETACH DELETE j
