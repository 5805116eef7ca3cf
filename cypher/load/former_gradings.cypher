// title: Bring gradings and judgings into this form
// answers: Versions before 15 gave them keys, and a grading without a name no grader.
// parameters: run
// columns:
MATCH (:Run {id: $run})-[:GRADED|JUDGED_BY]->(n)
SET n.grader = CASE WHEN n:Grading THEN coalesce(n.grader, '') END
REMOVE n.key
