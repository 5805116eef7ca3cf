// title: Judgings
// answers: Which judges gave verdicts on a run, how many, all of them, and by the dataset as it is now?
// parameters: run
// columns: judge, verdicts, complete, current
MATCH (r:Run {id: $run})-[:JUDGED_BY]->(j:Judging)
OPTIONAL MATCH (d:Dataset {name: r.dataset})
RETURN j.judge AS judge, coalesce(j.verdicts, 0) AS verdicts, j.complete AS complete,
  coalesce(j.gold = d.digest, false) AS current
ORDER BY judge
