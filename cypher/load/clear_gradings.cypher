// title: Clear gradings
// answers: Deletes what is known of the scores of a run, before the scores themselves are deleted.
// parameters: run
// columns:
MATCH (g:Grading {run: $run})
DETACH DELETE g
