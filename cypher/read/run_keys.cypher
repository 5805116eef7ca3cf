// title: Keys that name a run
// answers: Which claims and citations has a run, as many of each as the limit? Their keys follow from its name.
// parameters: run, limit
// columns: kind, key, question, judge, model, grader, position
MATCH (n:Claim {run: $run})
RETURN 'claims' AS kind, n.key AS key, n.question AS question, n.judge AS judge,
  coalesce(n.model, '') AS model, n.grader AS grader, n.position AS position
LIMIT $limit
UNION ALL
MATCH (n:Citation {run: $run})
RETURN 'citations' AS kind, n.key AS key, n.question AS question, n.judge AS judge,
  coalesce(n.model, '') AS model, n.grader AS grader, n.position AS position LIMIT $limit
