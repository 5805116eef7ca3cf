// title: Incoherent pairs
// answers: Which commits were retrieved together that do not belong together, and which rule decided?
// parameters: run, question = null, limit = 20
// columns: question, first, first_branch, second, second_branch, rule, stack, chunk_pairs
MATCH (r:Run {id: $run})
MATCH (q:Question {dataset: r.dataset}) WHERE $question IS NULL OR q.id = $question
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
MATCH (a)-[x:RETRIEVED]->(k:Chunk) WHERE NOT x.repeat
WITH q.id AS question, k.commit_key AS commit, k.branch AS branch, k.repo AS repo, count(*) AS chunks
ORDER BY question, commit, branch, repo
WITH question, collect({commit: commit, branch: branch, repo: repo, chunks: chunks}) AS versions
UNWIND range(0, size(versions) - 1) AS i
UNWIND range(i, size(versions) - 1) AS j
WITH question, versions[i] AS one, versions[j] AS two, CASE WHEN i = j
  THEN versions[i].chunks * (versions[i].chunks - 1) / 2 ELSE versions[i].chunks * versions[j].chunks END AS pairs
WHERE pairs > 0
WITH one.commit AS first, one.branch AS first_branch, one.repo AS first_repo,
  two.commit AS second, two.branch AS second_branch, two.repo AS second_repo,
  collect({question: question, pairs: pairs}) AS uses
OPTIONAL MATCH (c:Commit {key: first})
OPTIONAL MATCH (d:Commit {key: second})
WITH uses, c, d, first, first_branch, first_repo, second, second_branch, second_repo,
  coalesce(first_branch, c.branch) AS c_branch, coalesce(second_branch, d.branch) AS d_branch
// With an unknown commit there is nothing to match: ArcadeDB would take any.
WITH uses, c, d, first, first_branch, first_repo, second, second_branch, second_repo, c_branch, d_branch,
  CASE WHEN c IS NOT NULL AND d IS NOT NULL THEN COLLECT {
    MATCH (c)-[clash:INCOMPATIBLE_WITH]-(d)
    RETURN clash.stack AS name
    ORDER BY name
  } END AS stacks
WITH uses, c, d, first, first_branch, first_repo, second, second_branch, second_repo, c_branch, d_branch,
  stacks[0] AS stack
WITH uses, c, d, first, first_branch, first_repo, second, second_branch, second_repo, stack, CASE
  WHEN c IS NULL OR d IS NULL THEN 'unknown commit'
  WHEN c.key = d.key THEN 'same commit'
  WHEN stack IS NOT NULL THEN 'incompatible'
  WHEN EXISTS { MATCH (c)-[:COMPATIBLE_WITH]-(d) } THEN 'compatible'
  WHEN EXISTS { MATCH (c)<-[:DEPLOYS]-(:Deployment)-[:DEPLOYS]->(d) } THEN 'deployed together'
  WHEN c.repo = d.repo AND c_branch = d_branch THEN 'same branch'
  WHEN c_branch IN ['main', 'master', 'trunk'] AND d_branch IN ['main', 'master', 'trunk']
    AND abs(c.committed_ms - d.committed_ms) < 86400000 THEN 'same day'
  ELSE 'no rule' END AS rule
WHERE rule IN ['unknown commit', 'incompatible', 'no rule']
UNWIND uses AS use
RETURN use.question AS question, coalesce(first, first_repo) AS first, first_branch,
  coalesce(second, second_repo) AS second, second_branch, rule, stack, use.pairs AS chunk_pairs
ORDER BY question, CASE rule WHEN 'incompatible' THEN 0 WHEN 'no rule' THEN 1 ELSE 2 END, chunk_pairs DESC, first, second,
  first_branch, second_branch
LIMIT $limit
