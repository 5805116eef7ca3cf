// title: The graph
// answers: What does the graph hold: nodes, relationships, and their properties, each with its type and meaning? The constraints and indexes are made once.
// parameters:
// columns:

// Each label and type of relationships has a line that says what it is, a line for each of its properties, and its
// constraints and indexes. Lists run in parallel, an entry a step; an empty text stands for nothing in a list.

// Former versions had one dataset's ids unique in the whole database, and keys joined from several values.
DROP CONSTRAINT artifact_id IF EXISTS;
DROP CONSTRAINT question_id IF EXISTS;
DROP CONSTRAINT answer_key IF EXISTS;
DROP CONSTRAINT chunk_key IF EXISTS;
DROP CONSTRAINT grading_key IF EXISTS;
DROP CONSTRAINT judging_key IF EXISTS;
DROP INDEX answer_run_question IF EXISTS;

// (:Graphkit) The form of the whole database, stated once: an older graphkit reads it, and refuses to write.
//   name STRING: Always database.
//   schema STRING: The latest version of this schema that wrote into it.
//   version STRING: The graphkit that stated it.
CREATE CONSTRAINT graphkit_name IF NOT EXISTS FOR (g:Graphkit) REQUIRE g.name IS UNIQUE;

// (:Dataset) A dataset that was loaded.
//   name STRING: Its name, to which runs and questions refer.
//   folder STRING: The folder that it was loaded from.
//   questions INTEGER: How many questions it has.
//   partial BOOLEAN: Whether only some of its questions are stored.
//   loaded_at ZONED DATETIME: When it was loaded.
//   schema STRING: The version of this schema by which it was written.
//   schema_digest STRING: Its digest when that was written; another one means that a version wrote it that states none.
//   digest STRING: A digest of all its files.
//   former STRING: Its digest before a migration.
//   files LIST<STRING>: The files that its questions name.
//   gold_hash STRING: A digest of the gold of its questions.
//   graphs LIST<STRING>: The names of its knowledge graphs whose edges are given.
//   edgeless LIST<STRING>: The names of the others.
//   changes INTEGER: How often the histories of its repositories had been loaded then.
//   histories LIST<STRING>: The repositories whose history it was loaded with.
//   repositories LIST<STRING>: The repositories that its files name.
//   commits LIST<STRING>: The keys of the commits that its files name by whole shas besides the listed ones.
//   repository_prefixes LIST<STRING>: The prefixes of ids that are repositories.
//   repository_kinds LIST<STRING>: The kinds of artifacts whose ids begin with a repository.
//   repository_pattern STRING: The pattern by which an id gives its repository.
//   repository_stated BOOLEAN: Whether artifacts state repositories that their ids don't give.
//   repository_digest STRING: A digest of these rules.
CREATE CONSTRAINT dataset_name IF NOT EXISTS FOR (d:Dataset) REQUIRE d.name IS UNIQUE;

// (:Source) A file of a dataset that was loaded whole.
//   key STRING: The dataset and the part of it, such as shop/commits.
//   digest STRING: A digest of its content.
CREATE CONSTRAINT source_key IF NOT EXISTS FOR (s:Source) REQUIRE s.key IS UNIQUE;

// (:Load) A load under way; there is none when nothing is being written.
//   name STRING: What is being loaded.
//   owner STRING: The process that loads it.
//   heartbeat INTEGER: When that process last wrote, in milliseconds since 1970.
//   started_at ZONED DATETIME: When it began.
CREATE CONSTRAINT load_name IF NOT EXISTS FOR (l:Load) REQUIRE l.name IS UNIQUE;

// (:Repository) A repository.
//   name STRING: Its name.
//   changes INTEGER: How often its history was loaded.
CREATE CONSTRAINT repository_name IF NOT EXISTS FOR (r:Repository) REQUIRE r.name IS UNIQUE;

// (:Commit) A commit of a repository.
//   key STRING: Its repository and its sha, separated by @.
//   repo STRING: Its repository.
//   sha STRING: Its sha.
//   branch STRING: A branch that holds it.
//   tag STRING: The first of its tags.
//   tags LIST<STRING>: Its tags.
//   parents LIST<STRING>: The shas of its parents.
//   committed_at ZONED DATETIME: When it was committed.
//   committed_ms INTEGER: The same in milliseconds since 1970.
//   history BOOLEAN: Whether the loaded history of its repository holds it.
CREATE CONSTRAINT commit_key IF NOT EXISTS FOR (c:Commit) REQUIRE c.key IS UNIQUE;

// (:Stack) A set of commits that worked together, or that didn't.
//   key STRING: Its dataset and its id.
//   id STRING: Its id in the dataset.
//   dataset STRING: Its dataset.
//   compatible BOOLEAN: Whether its commits worked together.
//   environment STRING: Where they did.
//   source STRING: What says so.
//   repositories LIST<STRING>: Their repositories.
//   names LIST<STRING>: The commits as the dataset names them.
CREATE CONSTRAINT stack_key IF NOT EXISTS FOR (s:Stack) REQUIRE s.key IS UNIQUE;

// (:Deployment) Commits that were in use together.
//   key STRING: Its dataset and its id.
//   id STRING: Its id in the dataset.
//   dataset STRING: Its dataset.
//   environment STRING: Where they were in use.
//   at ZONED DATETIME: When they were deployed.
//   source STRING: What says so.
CREATE CONSTRAINT deployment_key IF NOT EXISTS FOR (d:Deployment) REQUIRE d.key IS UNIQUE;

// (:Principal) Who asks questions, and what it may read.
//   dataset STRING: The dataset whose rules say so.
//   name STRING: Its name.
//   allow LIST<STRING>: The patterns of what it may read, those of repositories and relations as JSON.
//   deny LIST<STRING>: The patterns of what it may not read all the same.
//   ids STRING: The allowed patterns of ids as a regular expression.
//   repositories STRING: Those of repositories.
//   relations STRING: Those of relations; without any it may follow all.
//   denied_ids STRING: The denied patterns of ids as a regular expression.
//   denied_repositories STRING: Those of repositories.
//   denied_relations STRING: Those of relations.
CREATE CONSTRAINT principal_of_dataset IF NOT EXISTS FOR (p:Principal) REQUIRE (p.dataset, p.name) IS UNIQUE;

// (:Artifact) A place in the code, or another node of a knowledge graph.
//   dataset STRING: The dataset that states it.
//   id STRING: Its id, which gold and runs use.
//   repo STRING: Its repository.
//   path STRING: Its file.
//   symbol STRING: Its function, class, or other symbol.
//   kind STRING: Its kind, such as function.
//   aliases LIST<STRING>: Its other names.
//   known BOOLEAN: Whether a knowledge graph holds it; else only gold or runs name it.
CREATE CONSTRAINT artifact_of_dataset IF NOT EXISTS FOR (a:Artifact) REQUIRE (a.dataset, a.id) IS UNIQUE;
CREATE INDEX artifact_by_id IF NOT EXISTS FOR (a:Artifact) ON (a.id);
CREATE INDEX artifact_repo IF NOT EXISTS FOR (a:Artifact) ON (a.repo);

// (:Question) A question with its gold.
//   id STRING: Its id.
//   dataset STRING: Its dataset.
//   question STRING: Its text.
//   category STRING: Its category.
//   difficulty STRING: Its difficulty.
//   group STRING: The group of questions that it belongs to.
//   split STRING: The part of the dataset that it belongs to, such as dev or test.
//   session STRING: The session that it belongs to.
//   turn INTEGER: Its place in the session, from 1.
//   gold_answer STRING: The right answer.
//   expected_output STRING: What the code of a right answer returns.
//   facts LIST<STRING>: What a right answer states.
//   conflicts LIST<STRING>: How a right answer resolves what sources contradict.
//   min_sources INTEGER: How many repositories a right answer draws on.
//   k INTEGER: The number of chunks at which its ranking is cut.
//   principal STRING: Who asks it.
//   judged BOOLEAN: Whether the relevance of nodes is annotated.
//   relevant_ids LIST<STRING>: The relevant nodes, the most relevant first.
//   gains LIST<FLOAT>: How relevant each of them is.
//   relevant_repositories LIST<STRING>: Their repositories.
//   expected_files LIST<STRING>: The files to retrieve.
//   expected_symbols LIST<STRING>: The symbols to retrieve.
//   symbol_match STRING: How symbols are compared.
//   expected_tools LIST<STRING>: The tools to call.
//   expected_arguments LIST<STRING>: Their arguments as JSON.
//   stack STRING: The stack that it is about.
//   stack_key STRING: The key of that stack.
//   pins LIST<STRING>: The keys of the commits that it is about, besides those of its stack.
//   pinned_repositories LIST<STRING>: Their repositories.
//   pinned_shas LIST<STRING>: Their shas.
//   answerable BOOLEAN: Whether it has an answer, which nothing means too.
//   why_not STRING: Why it has none.
//   absent_sources LIST<STRING>: The sources of the edges that it lists as absent.
//   absent_relations LIST<STRING>: Their relations.
//   absent_targets LIST<STRING>: Their targets.
//   seeds LIST<STRING>: The ids at which a walk has to begin, if it states some itself.
//   gold_cypher LIST<STRING>: The Cypher queries of which each finds its answer.
//   invalid STRING: Why it isn't scored, such as stale gold; empty if it is.
//   sided BOOLEAN: True if gold paths have commits of their own.
//   gold_hash STRING: A digest of its gold.
//   digest STRING: A digest of the whole question.
CREATE CONSTRAINT question_of_dataset IF NOT EXISTS FOR (q:Question) REQUIRE (q.dataset, q.id) IS UNIQUE;
CREATE INDEX question_by_id IF NOT EXISTS FOR (q:Question) ON (q.id);
CREATE INDEX question_dataset IF NOT EXISTS FOR (q:Question) ON (q.dataset);

// (:GoldPath) A gold path of a question, its steps in order.
//   dataset STRING: The dataset.
//   question STRING: The question.
//   id STRING: The id of the path.
//   index INTEGER: Its place among the gold paths of the question.
//   group STRING: The alternatives that it belongs to, of which one is enough.
//   from_turn INTEGER: The turn of the session in which it begins: a step that was walked since is optional.
//   unit STRING: The same for every path: its group, or itself.
//   rank INTEGER: Its place where alternatives score the same.
//   start STRING: The id at which the path begins: the source of its first required step.
//   ordered BOOLEAN: False for a set of edges without an order.
//   manual LIST<BOOLEAN>: Whether the step was annotated by hand, and no static graph need hold it.
//   absent LIST<BOOLEAN>: Whether no knowledge graph of the question holds the step, if their edges are given.
//   sources LIST<STRING>: The id from which each step leads.
//   relations LIST<STRING>: The relation of each step.
//   targets LIST<STRING>: The id to which it leads.
//   optional LIST<BOOLEAN>: Whether the step is optional.
//   source_repos LIST<STRING>: The repository from which it leads.
//   target_repos LIST<STRING>: The repository to which it leads.
//   crosses LIST<BOOLEAN>: Whether it crosses a boundary between repositories.
//   repositories LIST<STRING>: The repositories of all steps.
//   sided_in STRING: The dataset, if paths of the question have commits of their own.
//   side STRING: The side of the path, as the names of nodes say it.
//   side_repos LIST<STRING>: The repositories of its commits.
//   side_names LIST<STRING>: The commits as gold names them.
//   side_shas LIST<STRING>: Their shas.
//   side_keys LIST<STRING>: Their keys.
//   at_sources LIST<STRING>: The sources as they are compared, with their side.
//   at_targets LIST<STRING>: The targets as they are compared.
CREATE INDEX gold_path_question IF NOT EXISTS FOR (p:GoldPath) ON (p.question);
CREATE INDEX gold_path_sided IF NOT EXISTS FOR (p:GoldPath) ON (p.sided_in);

// (:Run) A run of a system over the questions of a dataset.
//   id STRING: Its name.
//   dataset STRING: Its dataset.
//   questions INTEGER: How many questions it has records for.
//   failed INTEGER: How many of them failed.
//   complete BOOLEAN: Whether it is stored as a whole.
//   open BOOLEAN: Whether it names commits otherwise than by their shas.
//   directionless BOOLEAN: Whether its log has edges without a direction.
//   kept STRING: The rule by which only some of its questions are stored.
//   kept_questions INTEGER: How many are stored by that rule.
//   kept_of INTEGER: Of how many.
//   file STRING: The file that it was loaded from.
//   origin STRING: Where it came from, if that isn't the file of a run.
//   loaded_at ZONED DATETIME: When it was loaded.
//   schema STRING: The version of this schema by which it was written.
//   schema_digest STRING: Its digest when that was written; another one means that a version wrote it that states none.
//   digest STRING: A digest of its file and the questions that it was loaded for.
//   content STRING: A digest of its file.
//   executed BOOLEAN: Whether all executions of its code are stored.
//   executions INTEGER: How many they are.
//   executed_gold STRING: The digest of the dataset when its code was executed.
//   renamed_from STRING: Its former name.
//   renaming LIST<STRING>: The former and the new name while it is being renamed.
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (r:Run) REQUIRE r.id IS UNIQUE;

// (:Answer) What a run did with a question.
//   run STRING: The run.
//   question STRING: The question.
//   answer STRING: The text of the answer.
//   abstained BOOLEAN: Whether the record states that it declines to answer.
//   declined BOOLEAN: Whether it declines: as it states, else by the words of its answer.
//   confidence FLOAT: How sure the system was.
//   error STRING: Why the question failed.
//   error_type STRING: The type of that error.
//   latency_ms FLOAT: How long it took, in milliseconds.
//   model_calls INTEGER: How often a language model was called.
//   prompt_tokens INTEGER: The tokens of the prompts.
//   output_tokens INTEGER: The tokens of the replies.
//   cost FLOAT: What the calls cost.
//   citations LIST<STRING>: What the answer cites.
//   evidence_files LIST<STRING>: The files that it names as evidence.
//   ranking LIST<STRING>: The ids of the retrieved chunks, the first rank first.
//   ranked LIST<STRING>: The ids that the system ranked by itself as files, modules or symbols, each once.
//   ranked_repos LIST<STRING>: Their repositories; empty for one without.
//   ordered BOOLEAN: Whether the order of the traversal counts.
//   ordered_logged BOOLEAN: Whether the log has an order.
//   before_sources LIST<STRING>: The sources of the edges that earlier turns of the session walked, each edge once; missing if they are unknown.
//   before_relations LIST<STRING>: Their relations.
//   before_targets LIST<STRING>: Their targets.
//   before_turns LIST<INTEGER>: The last turn that walked each.
//   chunks_logged BOOLEAN: Whether the record says what was retrieved.
//   walk_logged BOOLEAN: Whether it says what was traversed.
//   calls_logged BOOLEAN: Whether it says which tools were called.
//   seeds_logged BOOLEAN: Whether it says what the question was linked to.
//   queries LIST<STRING>: The Cypher queries that the system wrote, in order; missing if they weren't logged.
//   query_ran BOOLEAN: Whether one of them ran, and was allowed to; missing if none was run by `graphkit cypher`, or the database can't tell.
//   query_share FLOAT: The share of them that ran; missing if unknown.
//   same_result BOOLEAN: Whether the last query that ran has the result of a gold query; missing if unknown.
//   query_nodes LIST<STRING>: The nodes that their patterns match in the rows of their results.
//   gold_query_nodes LIST<STRING>: Those of the gold query that is closest.
//   query_reason STRING: Why a query didn't run, or why the matched nodes and edges are unknown.
//   query_cause STRING: The change that makes the result that of gold, in words.
//   trace_id STRING: The trace in which it was recorded.
//   span_id STRING: The span in that trace.
//   response_id STRING: The id of the model's response.
CREATE CONSTRAINT answer_of_run IF NOT EXISTS FOR (a:Answer) REQUIRE (a.run, a.question) IS UNIQUE;

// (:RetrievedPath) A path that a run traversed, its steps in order.
//   run STRING: The run.
//   question STRING: The question.
//   index INTEGER: Its place among the paths of the answer.
//   sources LIST<STRING>: The id from which each step leads.
//   relations LIST<STRING>: The relation of each step.
//   targets LIST<STRING>: The id to which it leads.
//   source_repos LIST<STRING>: The repository from which it leads.
//   target_repos LIST<STRING>: The repository to which it leads.
//   crosses LIST<BOOLEAN>: Whether it crosses a boundary between repositories.
//   repositories LIST<STRING>: The repositories of all steps.
//   source_commits LIST<STRING>: The commit at which each source was read, as logged.
//   target_commits LIST<STRING>: The commit at which each target was read, as logged.
//   commits LIST<STRING>: The keys of the commits that these are.
//   named BOOLEAN: Whether one of them is named otherwise than by its sha.
//   undirected LIST<BOOLEAN>: Which steps have no direction in the log; they are turned to that of gold.
//   logged_sources LIST<STRING>: The sources as logged, if a step has no direction.
//   sided_in STRING: The dataset, if gold paths of the question have commits of their own.
//   at_starts LIST<INTEGER>: Where each comparison begins in the following lists: one for each side that tells one.
//   at_sources LIST<STRING>: The sources as they are compared, with the side that the step fits.
//   at_relations LIST<STRING>: The relations.
//   at_targets LIST<STRING>: The targets.
//   at_crosses LIST<BOOLEAN>: Whether the step crosses a boundary between repositories.
//   at_twice LIST<BOOLEAN>: Whether the step counts by another of its names.
//   gate_sources LIST<STRING>: The sources as gates compare them, if they differ.
//   gate_targets LIST<STRING>: The targets as gates compare them.
//   bare LIST<BOOLEAN>: Which steps name no commit, although a side has one for their repositories.
//   mixed LIST<BOOLEAN>: Of which steps the ends lie on different sides.
CREATE INDEX retrieved_path_question IF NOT EXISTS FOR (p:RetrievedPath) ON (p.question);
CREATE INDEX retrieved_path_sided IF NOT EXISTS FOR (p:RetrievedPath) ON (p.sided_in);

// (:Chunk) A passage that was retrieved; runs that retrieved the same share it.
//   digest STRING: A digest of its dataset, its id and all else.
//   dataset STRING: The dataset of the runs that retrieved it.
//   id STRING: The id of its artifact.
//   repo STRING: Its repository.
//   own_repo STRING: The repository in which its id lies, where the record states another.
//   path STRING: Its path in the repository.
//   file STRING: The repository and the path.
//   symbol STRING: Its symbol.
//   last_symbol STRING: The last part of that.
//   commit STRING: The commit at which it was read, as logged.
//   commit_key STRING: The key of that commit by its name in the log.
//   named BOOLEAN: True if the log names it otherwise than by its sha.
//   branch STRING: The branch at which it was read.
//   text STRING: Its text.
CREATE CONSTRAINT chunk_digest IF NOT EXISTS FOR (c:Chunk) REQUIRE c.digest IS UNIQUE;

// (:ToolCall) A call of a tool.
//   run STRING: The run.
//   question STRING: The question.
//   position INTEGER: Its place among the calls of the answer, from 0.
//   name STRING: The tool.
//   arguments STRING: The arguments as JSON.
//   result STRING: The beginning of the result.
//   failed BOOLEAN: Whether the call failed.
//   shown BOOLEAN: Whether the log says which artifacts it showed.
CREATE INDEX tool_call_run IF NOT EXISTS FOR (c:ToolCall) ON (c.run);

// (:Score) What one answer is worth by one measure.
//   run STRING: The run.
//   question STRING: The question.
//   measure STRING: The measure.
//   value FLOAT: The value; missing if there is none.
//   counted FLOAT: The value that counts in the mean of the table; null where the table leaves the question out.
//   paths LIST<STRING>: The gold paths that count, of alternatives the chosen ones; of EdgeRecall and BoundaryRecall.
//   left LIST<STRING>: Where the traversal first left each gold path, such as "main at step 2"; of PathPrefix.
//   mixed LIST<STRING>: The rule of each pair of commits that don't belong together, all unknown ones as one; of Coherence.
//   reason STRING: Why there is no value.
//   grader STRING: Who says so: graphkit, a judge, the tests, or a person.
//   grade STRING: The grade in words.
//   label STRING: The label of a classifying judge.
//   explanation STRING: The grader's explanation.
//   confidence FLOAT: The grader's confidence.
//   cost FLOAT: What the grading cost.
//   prompt_tokens INTEGER: The tokens of the grader's prompt.
//   output_tokens INTEGER: The tokens of the grader's reply.
//   gold_hash STRING: A digest of the gold by which it was scored.
//   by_text BOOLEAN: Of the decision whether an answer is right: what gold decides by the answer's text.
//   text STRING: Which gold that is, or why it decides nothing.
CREATE INDEX score_run_measure IF NOT EXISTS FOR (s:Score) ON (s.run, s.measure);
CREATE INDEX score_question IF NOT EXISTS FOR (s:Score) ON (s.question);

// (:Grading) All scores of a run by one measure and grader.
//   run STRING: The run.
//   measure STRING: The measure.
//   grader STRING: The grader.
//   version STRING: The grader's version.
//   history INTEGER: The state of the histories by which it was graded.
//   gold_hash STRING: A digest of the gold by which it was graded.
//   principal STRING: Who asked the questions that name nobody; null for nobody.
//   gold STRING: The digest of the dataset then.
//   complete BOOLEAN: Whether all scores are stored.
CREATE CONSTRAINT grading_of_run IF NOT EXISTS FOR (g:Grading) REQUIRE (g.run, g.measure, g.grader) IS UNIQUE;

// (:Judging) All verdicts of a judge on a run.
//   run STRING: The run.
//   judge STRING: The judge.
//   verdicts INTEGER: How many there are.
//   gold STRING: The digest of the dataset when they were stored.
//   complete BOOLEAN: Whether all are stored.
CREATE CONSTRAINT judging_of_run IF NOT EXISTS FOR (j:Judging) REQUIRE (j.run, j.judge) IS UNIQUE;

// (:Verdict) What a judge says of an answer.
//   run STRING: The run.
//   question STRING: The question.
//   judge STRING: The judge.
//   grader STRING: The prompt.
//   model STRING: The language model.
//   prompt_hash STRING: The hash of the prompt.
//   failure STRING: Why there is no usable verdict: its kind.
//   reason STRING: The same in words.
//   grade STRING: The grade.
//   label STRING: The label.
//   explanation STRING: The judge's explanation.
//   confidence FLOAT: The judge's confidence.
//   fall_path INTEGER: The path of the first hop at which relevance falls, from 1.
//   fall_hop INTEGER: The place of that hop in its path, from 1.
//   fall_source STRING: The source of the edge that was traversed there.
//   fall_relation STRING: Its relation.
//   fall_target STRING: Its target.
//   fall_better STRING: An edge that leads nearer to an answer.
//   notes LIST<STRING>: What was corrected in reading it.
//   left_out LIST<STRING>: What didn't fit in the prompt.
//   gold_claims LIST<STRING>: The claims of the gold answer.
//   gold_stated LIST<BOOLEAN>: Whether the answer states each of them.
//   gold_named_in LIST<STRING>: What names the gold edges that it goes with: claim or chunk; empty without any.
//   gold_chunk_claims LIST<INTEGER>: The claims, from 0, that a retrieved chunk supports.
//   gold_chunks LIST<STRING>: The ids of these chunks.
//   gold_edge_claims LIST<INTEGER>: The claims, from 0, that go with a gold edge.
//   gold_edge_sources LIST<STRING>: The sources of these edges.
//   gold_edge_relations LIST<STRING>: Their relations.
//   gold_edge_targets LIST<STRING>: Their targets.
//   broken_rules LIST<STRING>: Of each criterion that the answer broke: must or must_not.
//   broken_about LIST<STRING>: What each is about: text, id, repository, relation or commit.
//   broken_criteria LIST<STRING>: Their texts or names.
//   broken_weights LIST<INTEGER>: Their weights.
//   broken_reasons LIST<STRING>: Why they don't hold.
//   broken_sources LIST<STRING>: The sources of the edges that broke them; empty if none did.
//   broken_relations LIST<STRING>: The relations of these edges.
//   broken_targets LIST<STRING>: The targets of these edges.
//   broken_retrieved LIST<STRING>: The retrieved ids that broke them; empty if none did.
//   broken_repos LIST<STRING>: The repositories of what broke them.
//   stop_reason STRING: Why the reply ended.
//   attempts INTEGER: How often the judge was asked.
//   prompt_tokens INTEGER: The tokens of the prompts.
//   output_tokens INTEGER: The tokens of the replies.
//   cost FLOAT: What they cost.
//   cached BOOLEAN: Whether the reply came from the cache.
CREATE INDEX verdict_run_judge IF NOT EXISTS FOR (v:Verdict) ON (v.run, v.judge);

// (:Claim) A claim of an answer, as a judge reads it.
//   key STRING: A digest of the verdict, and its place in that.
//   run STRING: The run.
//   question STRING: The question.
//   judge STRING: The judge.
//   model STRING: The language model; empty if the judge has none.
//   grader STRING: The prompt.
//   position INTEGER: Its place in the verdict.
//   text STRING: Its text.
//   sentence INTEGER: The sentence of the answer that makes it.
//   support STRING: Whether the retrieved chunks support it, such as UNSUPPORTED.
//   gold STRING: What the gold answer says of it.
//   cited_support STRING: Whether the cited chunks support it.
//   mismatch STRING: Why its evidence doesn't hold.
//   edge_source STRING: The source of the traversed edge that it rests on.
//   edge_relation STRING: The relation of that edge.
//   edge_target STRING: Its target.
//   edge_in_gold BOOLEAN: Whether gold holds that edge.
CREATE CONSTRAINT claim_key IF NOT EXISTS FOR (c:Claim) REQUIRE c.key IS UNIQUE;
CREATE INDEX claim_run_judge IF NOT EXISTS FOR (c:Claim) ON (c.run, c.judge);

// (:Citation) A citation in an answer, as a judge reads it.
//   key STRING: A digest of the verdict, and its place in that.
//   run STRING: The run.
//   question STRING: The question.
//   judge STRING: The judge.
//   model STRING: The language model; empty if the judge has none.
//   grader STRING: The prompt.
//   position INTEGER: Its place in the verdict.
//   text STRING: Its text.
//   target STRING: What it refers to.
//   correct BOOLEAN: Whether it is right.
//   needed BOOLEAN: Whether its claim needs it.
//   reason STRING: Why it is wrong.
CREATE CONSTRAINT citation_key IF NOT EXISTS FOR (c:Citation) REQUIRE c.key IS UNIQUE;
CREATE INDEX citation_run_judge IF NOT EXISTS FOR (c:Citation) ON (c.run, c.judge);

// (:Execution) What the code of an answer did in the tests of its question.
//   run STRING: The run.
//   question STRING: The question.
//   status STRING: How it ended: success, or the status of the first other test.
//   language STRING: The language.
//   mechanism STRING: The sandbox.
//   entry_point STRING: The function that the tests call.
//   code STRING: The code that ran.
//   passed INTEGER: How many tests passed.
//   total INTEGER: Of how many.
//   duration_ms FLOAT: How long they took.
CREATE INDEX execution_run IF NOT EXISTS FOR (e:Execution) ON (e.run);

// (:CodeTestResult) How one test ended.
//   run STRING: The run.
//   question STRING: The question.
//   position INTEGER: Its place among the tests.
//   name STRING: Its name.
//   status STRING: How it ended.
//   message STRING: What it says.
//   line INTEGER: The line of the code.
//   duration_ms FLOAT: How long it took.
//   expected STRING: The expected value.
//   returned STRING: The value that was returned.
//   printed STRING: What it printed.
//   decided_by STRING: Who decided how it ended.
//   attempts LIST<STRING>: What the code attempted that the sandbox doesn't allow.

// (:Artifact)-[:GOLD]->(:Artifact) A step of a gold path.
//   dataset STRING: The dataset.
//   question STRING: The question.
//   path STRING: The id of the gold path, else its place.
//   group STRING: The alternatives that the path belongs to.
//   position INTEGER: The place of the step in the path, from 0.
//   relation STRING: The relation.
//   optional BOOLEAN: Whether the step is optional.
//   required BOOLEAN: Whether a run has to walk it: it is not optional.
//   side STRING: The side of the path, if paths of the question have commits of their own.
CREATE INDEX gold_question IF NOT EXISTS FOR ()-[g:GOLD]-() ON (g.question);

// (:Artifact)-[:TRAVERSED]->(:Artifact) A step that a run traversed, as logged; without a direction in the log, as in gold.
//   run STRING: The run.
//   question STRING: The question.
//   path INTEGER: The path of the step in the log.
//   position INTEGER: The place of the step in the path.
//   relation STRING: The relation.
//   source_commit STRING: The commit at which the source was read.
//   target_commit STRING: The commit at which the target was read.
//   directed BOOLEAN: False if the log has lost its direction.
CREATE INDEX traversed_run_question IF NOT EXISTS FOR ()-[t:TRAVERSED]-() ON (t.run, t.question);

// (:Artifact)-[:EDGE]->(:Artifact) An edge of a knowledge graph.
//   graph STRING: The graph: its dataset, and its name if the dataset has several.
//   relation STRING: The relation.
//   since STRING: The first commit of the source's repository at which it exists, as its record names it, if it does.
//   until STRING: The last one.
CREATE INDEX edge_graph IF NOT EXISTS FOR ()-[e:EDGE]-() ON (e.graph);

// (:Artifact|Chunk)-[:AT]->(:Commit) The commit at which an artifact or a chunk was read.
//   graph STRING: The knowledge graph that read the artifact.
//   line INTEGER: The first line of the artifact there.
//   end_line INTEGER: Its last line.
CREATE INDEX at_graph IF NOT EXISTS FOR ()-[t:AT]-() ON (t.graph);

// (:Principal)-[:MAY_READ]->(:Artifact|Repository) An artifact that it may read, or a repository that holds one.
// (:Dataset)-[:HAS]->(:Question) A question of the dataset.
// (:Run)-[:OVER]->(:Dataset) The dataset that the run is about.
// (:Question)-[:EXPECTS]->(:GoldPath) A gold path of the question.
// (:Run)-[:PRODUCED]->(:Answer) An answer of the run.
// (:Run)-[:KEPT]->(:Question) A question of a run that is stored in part.
// (:Answer)-[:ANSWERS]->(:Question) The question that was asked.
// (:Answer)-[:WALKED]->(:RetrievedPath) A path that was traversed.

// (:Answer)-[:RETRIEVED]->(:Chunk) A chunk that was retrieved.
//   rank INTEGER: Its rank, from 1.
//   score FLOAT: The score that the retriever gave it.
//   repeat BOOLEAN: Whether an earlier rank has the same id.
//   commit_key STRING: The key of the commit at which it was read.
//   commit STRING: The sha of that commit, if the chunk doesn't name it.
//   ambiguous STRING: Why the name of its commit means none.

// (:Answer)-[:SEEDED]->(:Artifact) A node that the question was linked to, at which the walk begins.
//   rank INTEGER: Its rank, from 1.
//   score FLOAT: The score of the link.
//   mention STRING: The part of the question that it was linked by.

// (:Chunk)-[:OF]->(:Artifact) The artifact that the chunk shows.
// (:Answer)-[:CALLED]->(:ToolCall) A tool that was called.

// (:ToolCall)-[:SAW]->(:Artifact) An artifact that the call showed.
//   place INTEGER: Its place in the result.

// (:Commit)-[:PARENT]->(:Commit) A parent of the commit.
// (:Commit)-[:IN]->(:Repository) Its repository.

// (:Commit)-[:COMPATIBLE_WITH]->(:Commit) Two commits that worked together; the direction means nothing.
//   stack STRING: The stack that says so.
//   dataset STRING: Its dataset.
//   source STRING: Its source.

// (:Commit)-[:INCOMPATIBLE_WITH]->(:Commit) Two commits that didn't work together; the direction means nothing.
//   stack STRING: The stack that says so.
//   dataset STRING: Its dataset.
//   source STRING: Its source.

// (:Stack)-[:PINS]->(:Commit) A commit of the stack.
// (:Deployment)-[:DEPLOYS]->(:Commit) A commit of the deployment.

// (:Dataset)-[:LISTS]->(:Commit) A commit that the dataset lists, as it lists it.
//   branch STRING: The branch.
//   tags LIST<STRING>: The tags.
//   committed_at ZONED DATETIME: When it was committed.
//   committed_ms INTEGER: The same in milliseconds since 1970.

// (:Answer)-[:SCORED]->(:Score) What the answer is worth by a measure.
// (:Run)-[:GRADED]->(:Grading) Who scored the run.
// (:Run)-[:JUDGED_BY]->(:Judging) Who judged the run.
// (:Answer)-[:JUDGED]->(:Verdict) A verdict on the answer.

// (:Answer)-[:COMPARED]->(:Answer) The answers of two runs to a question, as a judge compared them by a criterion.
//   judge STRING: The judge.
//   model STRING: The language model; empty if the judge has none.
//   version STRING: The version of the judge with its prompt.
//   criterion STRING: The criterion.
//   differential BOOLEAN: Whether the judge saw only what the other answer lacks.
//   value FLOAT: What the verdicts are worth to the answer at the end: 1 if it won, 0.5 for a tie; nothing without verdicts.
//   ahead FLOAT: The same where that answer was shown first; nothing if no judge was asked.
//   behind FLOAT: The same where it was shown second.
//   reason STRING: Why there is no value.
//   comparisons INTEGER: How many verdicts it stands for.
//   failed INTEGER: How many of them failed.
//   explanations LIST<STRING>: What the judge said with each of them.

// (:Answer)-[:CLAIMS]->(:Claim) A claim of the answer.
// (:Answer)-[:CITES]->(:Citation) A citation in the answer.
// (:Claim)-[:CITES]->(:Citation) A citation that stands at the claim.
// (:Citation)-[:POINTS_TO]->(:Chunk) A retrieved chunk that the citation means.

// (:Claim)-[:SUPPORTED_BY]->(:Chunk) A retrieved chunk that the judge names as evidence.
//   quote STRING: The words that are quoted.
//   occurs BOOLEAN: Whether they occur in the chunk.
//   alone BOOLEAN: Whether they support the claim alone.

// (:Answer)-[:EXECUTED]->(:Execution) What the code of the answer did.
// (:Execution)-[:RAN]->(:CodeTestResult) A test that ran.
