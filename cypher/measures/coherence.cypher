// title: Version coherence
// answers: Which share of the pairs of retrieved chunks comes from commits that belong together?
// parameters: dataset, run, window_ms, default_branches, no_chunk, no_commit, no_commits_known
// columns: question, value, reason
MATCH (q:Question {dataset: $dataset})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE NOT r.repeat
  WITH c.commit_key AS commit, c.branch AS branch, count(*) AS chunks, count(c.commit) AS committed
  RETURN {commit: commit, branch: branch, chunks: chunks, committed: committed} AS version
  ORDER BY commit, branch
} AS versions
WITH q, a, versions, reduce(sum = 0, v IN versions | sum + v.chunks) AS chunks
UNWIND CASE WHEN size(versions) = 0 THEN [null] ELSE range(0, size(versions) - 1) END AS i
UNWIND CASE WHEN i IS NULL THEN [null] ELSE range(i, size(versions) - 1) END AS j
WITH q, a, versions, chunks, versions[i] AS one, versions[j] AS two,
  CASE WHEN i = j THEN versions[i].chunks * (versions[i].chunks - 1) / 2
    ELSE versions[i].chunks * versions[j].chunks END AS pairs
// Each pair of versions is decided once for the whole run.
WITH one.commit AS first, one.branch AS first_branch, two.commit AS second, two.branch AS second_branch,
  collect({question: q.id, pairs: pairs, chunks: chunks,
    committed: any(v IN versions WHERE v.committed > 0),
    missing: a IS NULL, error: a.error}) AS uses
OPTIONAL MATCH (c:Commit {key: first})
OPTIONAL MATCH (d:Commit {key: second})
WITH uses, c, d, coalesce(first_branch, c.branch) AS c_branch, coalesce(second_branch, d.branch) AS d_branch
WITH uses, CASE
  WHEN c IS NULL OR d IS NULL THEN false
  WHEN c.key = d.key THEN true
  WHEN EXISTS { MATCH (c)-[:INCOMPATIBLE_WITH]-(d) } THEN false
  WHEN EXISTS { MATCH (c)-[:COMPATIBLE_WITH]-(d) } THEN true
  WHEN EXISTS { MATCH (c)<-[:DEPLOYS]-(:Deployment)-[:DEPLOYS]->(d) } THEN true
  WHEN c.repo = d.repo AND c_branch = d_branch THEN true
  WHEN c_branch IN $default_branches AND d_branch IN $default_branches
    AND abs(c.committed_ms - d.committed_ms) < $window_ms THEN true
  ELSE false END AS fits
UNWIND uses AS use
WITH use.question AS question, use.chunks AS chunks, use.committed AS committed, use.missing AS missing,
  use.error AS error, sum(CASE WHEN fits THEN use.pairs ELSE 0 END) AS fitting
WITH *, EXISTS { MATCH (:Commit) } AS known
RETURN question,
  CASE WHEN missing OR error IS NOT NULL OR chunks = 0 OR NOT committed OR NOT known THEN null
    WHEN chunks = 1 THEN 1.0 ELSE toFloat(fitting) / (chunks * (chunks - 1) / 2) END AS value,
  CASE WHEN missing THEN $missing WHEN error IS NOT NULL THEN 'failed: ' + error
    WHEN chunks = 0 THEN $no_chunk WHEN NOT committed THEN $no_commit
    WHEN NOT known THEN $no_commits_known END AS reason
