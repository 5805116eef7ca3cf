// title: Name the models of claims and citations
// answers: Names the models of some claims and citations of a run that a version before 19 wrote, and returns how many.
// parameters: run, limit
// columns: named
MATCH (n:Claim|Citation {run: $run}) WHERE n.model IS NULL
WITH n LIMIT $limit
OPTIONAL MATCH (v:Verdict {run: $run, judge: n.judge}) WHERE v.question = n.question AND v.grader = n.grader
SET n.model = coalesce(v.model, '')
RETURN count(*) AS named
