// title: Unordered runs
// answers: Is a run read as sets of edges, whatever its records say?
// parameters: run
// columns: unordered
MATCH (a:Answer {run: $run}) WHERE a.ordered <> a.ordered_logged
RETURN count(a) > 0 AS unordered
