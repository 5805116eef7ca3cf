// title: Version coherence
// answers: Which share of the pairs of retrieved chunks comes from commits that belong together?
// parameters: dataset, run, questions, window_ms, default_branches, no_chunk, no_commit, no_commits_known, no_pair, unlogged
// columns: question, value, reason
// Known to a dataset are the commits that it lists or pins, and those of its repositories whose history was read.
WITH EXISTS { MATCH (:Dataset {name: $dataset})-[:LISTS]->(:Commit) }
  OR EXISTS { MATCH (d:Dataset {name: $dataset}) WHERE size(d.histories) > 0 }
  OR EXISTS { MATCH (:Stack {dataset: $dataset})-[:PINS]->(:Commit) } AS known
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, known, CASE WHEN q.sided THEN COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN DISTINCT {repos: g.side_repos, keys: g.side_keys}
} ELSE [] END AS sides
WITH q, a, known, sides, COLLECT {
  // With sides, a chunk that was retrieved at two commits is two.
  MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE q.sided OR NOT r.repeat
  WITH DISTINCT c.id AS id, r.commit_key AS commit, c.branch AS branch, coalesce(r.commit_key, c.commit) AS named
  WITH commit, branch, count(*) AS chunks, count(named) AS committed
  RETURN {commit: commit, branch: branch, chunks: chunks, committed: committed,
    repo: left(commit, size(commit) - 1 - size(split(commit, '@')[size(split(commit, '@')) - 1]))} AS version
  ORDER BY commit, branch
} AS versions
WITH q.id AS question, q.pins AS pins, sides, a IS NULL AS missing, a.error AS error, a.chunks_logged AS logged, known, versions,
  reduce(sum = 0, v IN versions | sum + v.chunks) AS chunks, any(v IN versions WHERE v.committed > 0) AS committed
UNWIND CASE WHEN size(versions) = 0 THEN [null] ELSE range(0, size(versions) - 1) END AS i
UNWIND CASE WHEN i IS NULL THEN [null] ELSE range(i, size(versions) - 1) END AS j
WITH i, j, pins, sides, [question, missing, error, chunks, committed, known, logged] AS asked,
  versions[i] AS one, versions[j] AS two,
  CASE WHEN i = j THEN versions[i].chunks * (versions[i].chunks - 1) / 2
    ELSE versions[i].chunks * versions[j].chunks END AS pairs
WHERE pairs > 0 OR i IS NULL OR (i = 0 AND j = 0)
// Of a question about several sides only pairs count that share one.
WITH pins, sides, asked, one, two, [s IN sides WHERE (one.commit IS NULL OR one.commit IN s.keys OR NOT one.repo IN s.repos)
    AND (two.commit IS NULL OR two.commit IN s.keys OR NOT two.repo IN s.repos)] AS shared, pairs
WITH CASE WHEN size(sides) = 0 THEN [pins] ELSE [s IN shared | s.keys] END AS pins, asked, one, two,
  CASE WHEN size(sides) > 0 AND size(shared) = 0 THEN 0 ELSE pairs END AS pairs
WITH asked, pairs, one.commit AS first, one.branch AS first_branch, two.commit AS second, two.branch AS second_branch,
  any(some IN pins WHERE coalesce(one.commit IN some AND two.commit IN some, false)) AS pinned
// Each pair of versions is decided once for all of these questions. What is grouped is kept small: a database holds it all.
WITH first, first_branch, second, second_branch, pinned, collect([asked, pairs]) AS uses
OPTIONAL MATCH (c:Commit {key: first})
OPTIONAL MATCH (d:Commit {key: second})
// What is known of each of the two commits: of several sources what the dataset itself says.
WITH uses, pinned, c, d, first_branch, second_branch, CASE WHEN c IS NULL THEN [] ELSE COLLECT {
    MATCH (c)<-[l:LISTS]-(s:Dataset) WHERE s.name = $dataset
    RETURN {branch: l.branch, ms: l.committed_ms}
  } + CASE WHEN c.history AND EXISTS { MATCH (s:Dataset) WHERE s.name = $dataset AND c.repo IN s.histories }
    THEN [{branch: c.branch, ms: c.committed_ms}] ELSE [] END + COLLECT {
    MATCH (c)<-[:PINS]-(s:Stack) WHERE s.dataset = $dataset
    RETURN {branch: null, ms: null} LIMIT 1
  } END[0] AS c_known,
  CASE WHEN d IS NULL THEN [] ELSE COLLECT {
    MATCH (d)<-[l:LISTS]-(s:Dataset) WHERE s.name = $dataset
    RETURN {branch: l.branch, ms: l.committed_ms}
  } + CASE WHEN d.history AND EXISTS { MATCH (s:Dataset) WHERE s.name = $dataset AND d.repo IN s.histories }
    THEN [{branch: d.branch, ms: d.committed_ms}] ELSE [] END + COLLECT {
    MATCH (d)<-[:PINS]-(s:Stack) WHERE s.dataset = $dataset
    RETURN {branch: null, ms: null} LIMIT 1
  } END[0] AS d_known
WITH uses, pinned, c, d, c_known, d_known, coalesce(first_branch, c_known.branch) AS c_branch,
  coalesce(second_branch, d_known.branch) AS d_branch
WITH uses, CASE
  WHEN c_known IS NULL OR d_known IS NULL THEN pinned
  WHEN c.key = d.key THEN true
  WHEN EXISTS { MATCH (c)-[x:INCOMPATIBLE_WITH]-(d) WHERE x.dataset = $dataset } THEN false
  WHEN EXISTS { MATCH (c)-[x:COMPATIBLE_WITH]-(d) WHERE x.dataset = $dataset } THEN true
  WHEN EXISTS { MATCH (c)<-[:DEPLOYS]-(x:Deployment)-[:DEPLOYS]->(d) WHERE x.dataset = $dataset } THEN true
  WHEN c.repo = d.repo AND c_branch = d_branch THEN true
  WHEN c_branch IN $default_branches AND d_branch IN $default_branches
    AND abs(c_known.ms - d_known.ms) < $window_ms THEN true
  ELSE pinned END AS fits
UNWIND uses AS use
WITH use[0] AS asked, sum(CASE WHEN fits THEN use[1] ELSE 0 END) AS fitting, sum(use[1]) AS pairs
WITH asked[0] AS question, asked[1] AS missing, asked[2] AS error, asked[3] AS chunks, asked[4] AS committed,
  asked[5] AS known, asked[6] AS logged, fitting, pairs
RETURN question,
  CASE WHEN missing OR error IS NOT NULL OR chunks = 0 OR NOT committed OR NOT known THEN null
    WHEN chunks = 1 THEN 1.0 WHEN pairs > 0 THEN toFloat(fitting) / pairs END AS value,
  CASE WHEN missing THEN $missing WHEN error IS NOT NULL THEN 'failed: ' + error
    WHEN NOT logged THEN $unlogged WHEN chunks = 0 THEN $no_chunk WHEN NOT committed THEN $no_commit
    WHEN NOT known THEN $no_commits_known WHEN pairs = 0 AND chunks > 1 THEN $no_pair END AS reason
