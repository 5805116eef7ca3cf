// title: Counts of runs
// answers: How many answers, scores, verdicts and executions have some runs?
// parameters: runs
// columns: kind, count
UNWIND $runs AS run MATCH (n:Answer {run: run}) RETURN 'answers' AS kind, count(n) AS count
UNION ALL
UNWIND $runs AS run MATCH (n:Score {run: run}) WHERE n.measure <> 'RightAnswer' RETURN 'scores' AS kind, count(n) AS count
UNION ALL
UNWIND $runs AS run MATCH (n:Verdict {run: run}) RETURN 'verdicts' AS kind, count(n) AS count
UNION ALL
UNWIND $runs AS run MATCH (n:Execution {run: run}) RETURN 'executions' AS kind, count(n) AS count
