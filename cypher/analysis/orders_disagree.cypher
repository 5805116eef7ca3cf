// title: Comparisons whose orders disagree
// answers: On which questions does another answer win than before when a judge sees the answers of this run and of another in the other order, and by which criterion? A verdict is worth 1 to the winner, 0.5 in a tie.
// order: 40
// parameters: run, question = null, limit = 20
// columns: question, other, criterion, judge, model, differential, shown_first, shown_second
MATCH (a:Answer {run: $run})-[c:COMPARED]-(b:Answer)
WHERE ($question IS NULL OR a.question = $question) AND sign(c.ahead - 0.5) <> sign(c.behind - 0.5)
// Both are of the answer at the end: of the other one, the places change, and what it is worth.
WITH a, b, c, startNode(c) = a AS begins
RETURN a.question AS question, b.run AS other, c.criterion AS criterion, c.judge AS judge,
  CASE WHEN c.model = '' THEN null ELSE c.model END AS model, c.differential AS differential,
  CASE WHEN begins THEN 1.0 - c.behind ELSE c.ahead END AS shown_first,
  CASE WHEN begins THEN 1.0 - c.ahead ELSE c.behind END AS shown_second
ORDER BY question, other, criterion, judge, model, differential
LIMIT $limit
