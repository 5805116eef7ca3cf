// title: Forget executions
// answers: Marks a run as not executed, before its executions are deleted.
// parameters: run
// columns:
MATCH (r:Run {id: $run})
REMOVE r.executed, r.executions, r.executed_gold
