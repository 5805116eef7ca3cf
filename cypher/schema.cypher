// title: Constraints and indexes
// answers: Makes every look-up by key an index look-up; made once, and again without effect.
// parameters:
// columns:
// Former versions had one dataset's ids unique in the whole database, and keys joined from several values.
DROP CONSTRAINT artifact_id IF EXISTS;
DROP CONSTRAINT question_id IF EXISTS;
DROP CONSTRAINT answer_key IF EXISTS;
DROP CONSTRAINT chunk_key IF EXISTS;
DROP CONSTRAINT grading_key IF EXISTS;
DROP CONSTRAINT judging_key IF EXISTS;
DROP INDEX answer_run_question IF EXISTS;
CREATE CONSTRAINT graphkit_name IF NOT EXISTS FOR (g:Graphkit) REQUIRE g.name IS UNIQUE;
CREATE CONSTRAINT dataset_name IF NOT EXISTS FOR (d:Dataset) REQUIRE d.name IS UNIQUE;
CREATE CONSTRAINT source_key IF NOT EXISTS FOR (s:Source) REQUIRE s.key IS UNIQUE;
CREATE CONSTRAINT load_name IF NOT EXISTS FOR (l:Load) REQUIRE l.name IS UNIQUE;
CREATE CONSTRAINT repository_name IF NOT EXISTS FOR (r:Repository) REQUIRE r.name IS UNIQUE;
CREATE CONSTRAINT commit_key IF NOT EXISTS FOR (c:Commit) REQUIRE c.key IS UNIQUE;
CREATE CONSTRAINT stack_key IF NOT EXISTS FOR (s:Stack) REQUIRE s.key IS UNIQUE;
CREATE CONSTRAINT deployment_key IF NOT EXISTS FOR (d:Deployment) REQUIRE d.key IS UNIQUE;
CREATE CONSTRAINT artifact_of_dataset IF NOT EXISTS FOR (a:Artifact) REQUIRE (a.dataset, a.id) IS UNIQUE;
CREATE CONSTRAINT question_of_dataset IF NOT EXISTS FOR (q:Question) REQUIRE (q.dataset, q.id) IS UNIQUE;
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (r:Run) REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT answer_of_run IF NOT EXISTS FOR (a:Answer) REQUIRE (a.run, a.question) IS UNIQUE;
CREATE CONSTRAINT chunk_digest IF NOT EXISTS FOR (c:Chunk) REQUIRE c.digest IS UNIQUE;
CREATE CONSTRAINT grading_of_run IF NOT EXISTS FOR (g:Grading) REQUIRE (g.run, g.measure, g.grader) IS UNIQUE;
CREATE CONSTRAINT judging_of_run IF NOT EXISTS FOR (j:Judging) REQUIRE (j.run, j.judge) IS UNIQUE;
CREATE CONSTRAINT claim_key IF NOT EXISTS FOR (c:Claim) REQUIRE c.key IS UNIQUE;
CREATE CONSTRAINT citation_key IF NOT EXISTS FOR (c:Citation) REQUIRE c.key IS UNIQUE;
CREATE INDEX artifact_by_id IF NOT EXISTS FOR (a:Artifact) ON (a.id);
CREATE INDEX question_by_id IF NOT EXISTS FOR (q:Question) ON (q.id);
CREATE INDEX question_dataset IF NOT EXISTS FOR (q:Question) ON (q.dataset);
CREATE INDEX tool_call_run IF NOT EXISTS FOR (c:ToolCall) ON (c.run);
CREATE INDEX score_run_measure IF NOT EXISTS FOR (s:Score) ON (s.run, s.measure);
CREATE INDEX verdict_run_judge IF NOT EXISTS FOR (v:Verdict) ON (v.run, v.judge);
CREATE INDEX claim_run_judge IF NOT EXISTS FOR (c:Claim) ON (c.run, c.judge);
CREATE INDEX citation_run_judge IF NOT EXISTS FOR (c:Citation) ON (c.run, c.judge);
CREATE INDEX execution_run IF NOT EXISTS FOR (e:Execution) ON (e.run);
CREATE INDEX gold_question IF NOT EXISTS FOR ()-[g:GOLD]-() ON (g.question);
CREATE INDEX traversed_run_question IF NOT EXISTS FOR ()-[t:TRAVERSED]-() ON (t.run, t.question);
CREATE INDEX edge_graph IF NOT EXISTS FOR ()-[e:EDGE]-() ON (e.graph);
CREATE INDEX at_graph IF NOT EXISTS FOR ()-[t:AT]-() ON (t.graph);
