// title: Count a run again
// answers: Stores how many answers, verdicts and executions of a run are left after questions of it were removed. The numbers of a run that is stored in part are those of the whole run.
// parameters: run
// columns:
MATCH (r:Run {id: $run}) WHERE r.complete
SET r.questions = CASE WHEN r.kept IS NULL THEN COUNT { MATCH (r)-[:PRODUCED]->(:Answer) } ELSE r.questions END,
  r.failed = CASE WHEN r.kept IS NULL THEN COUNT { MATCH (r)-[:PRODUCED]->(a:Answer) WHERE a.error IS NOT NULL } ELSE r.failed END,
  r.kept_questions = CASE WHEN r.kept IS NOT NULL THEN COUNT { MATCH (r)-[:KEPT]->(:Question) } END,
  r.executions = CASE WHEN r.executions IS NOT NULL THEN COUNT { MATCH (e:Execution {run: $run}) } END
WITH r
MATCH (r)-[:JUDGED_BY]->(j:Judging) WHERE j.verdicts IS NOT NULL
SET j.verdicts = COUNT { MATCH (v:Verdict {run: $run, judge: j.judge}) }
