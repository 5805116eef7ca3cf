// title: Incoherent pairs
// answers: Which commits were retrieved together although they do not belong together, and by which rule? All pairs with unknown commits are one row.
// order: 100
// parameters: run, question = null, limit = 20
// columns: question, first, first_branch, second, second_branch, rule, stack, chunk_pairs
MATCH (r:Run {id: $run})
// Without a commit that its dataset knows, coherence isn't scored.
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH r, q WHERE coalesce(q.invalid, '') = ''
  AND (EXISTS { MATCH (:Dataset {name: r.dataset})-[:LISTS]->(:Commit) }
    OR EXISTS { MATCH (s:Dataset) WHERE s.name = r.dataset AND size(s.histories) > 0 }
    OR EXISTS { MATCH (:Stack {dataset: r.dataset})-[:PINS]->(:Commit) })
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
  AND EXISTS { MATCH (a)-[use:RETRIEVED]->(read:Chunk) WHERE (q.sided OR NOT use.repeat) AND coalesce(use.commit_key, read.commit) IS NOT NULL }
WITH r, q, a, CASE WHEN q.sided THEN COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN DISTINCT {repos: g.side_repos, keys: g.side_keys}
} ELSE [] END AS sides
MATCH (a)-[x:RETRIEVED]->(k:Chunk) WHERE q.sided OR NOT x.repeat
WITH DISTINCT r.dataset AS dataset, q.id AS question, q.pins AS pins, sides, k.id AS chunk, x.commit_key AS commit,
  k.branch AS branch, k.repo AS repo
WITH dataset, question, pins, sides, commit, branch, repo, count(*) AS chunks
ORDER BY question, commit, branch, repo
WITH dataset, question, pins, sides, collect({commit: commit, branch: branch, repo: repo, chunks: chunks,
  of: coalesce(left(commit, size(commit) - 1 - size(split(commit, '@')[size(split(commit, '@')) - 1])), repo)}) AS versions
UNWIND range(0, size(versions) - 1) AS i
UNWIND range(i, size(versions) - 1) AS j
WITH dataset, question, pins, sides, versions[i] AS one, versions[j] AS two, CASE WHEN i = j
  THEN versions[i].chunks * (versions[i].chunks - 1) / 2 ELSE versions[i].chunks * versions[j].chunks END AS pairs
WHERE pairs > 0
// Of a question about several sides only pairs count that share one.
WITH dataset, question, one, two, pairs, CASE WHEN size(sides) = 0 THEN [pins]
  ELSE [s IN sides WHERE (one.commit IS NULL OR one.commit IN s.keys OR NOT one.of IN s.repos)
    AND (two.commit IS NULL OR two.commit IN s.keys OR NOT two.of IN s.repos) | s.keys] END AS pins
WHERE size(pins) > 0
WITH dataset, one.commit AS first, one.branch AS first_branch, one.repo AS first_repo,
  two.commit AS second, two.branch AS second_branch, two.repo AS second_repo,
  any(some IN pins WHERE coalesce(one.commit IN some AND two.commit IN some, false)) AS pinned,
  collect({question: question, pairs: pairs}) AS uses
OPTIONAL MATCH (c:Commit {key: first})
OPTIONAL MATCH (d:Commit {key: second})
// What is known of each of the two commits: of several sources what the dataset itself says. With an unknown commit there
// is nothing to match: ArcadeDB would take any.
WITH dataset, uses, pinned, c, d, first, first_branch, first_repo, second, second_branch, second_repo,
  CASE WHEN c IS NULL THEN [] ELSE COLLECT {
    MATCH (c)<-[l:LISTS]-(s:Dataset) WHERE s.name = dataset
    RETURN {branch: l.branch, ms: l.committed_ms}
  } + CASE WHEN c.history AND EXISTS { MATCH (s:Dataset) WHERE s.name = dataset AND c.repo IN s.histories }
    THEN [{branch: c.branch, ms: c.committed_ms}] ELSE [] END + COLLECT {
    MATCH (c)<-[:PINS]-(s:Stack) WHERE s.dataset = dataset
    RETURN {branch: null, ms: null} LIMIT 1
  } END[0] AS c_known,
  CASE WHEN d IS NULL THEN [] ELSE COLLECT {
    MATCH (d)<-[l:LISTS]-(s:Dataset) WHERE s.name = dataset
    RETURN {branch: l.branch, ms: l.committed_ms}
  } + CASE WHEN d.history AND EXISTS { MATCH (s:Dataset) WHERE s.name = dataset AND d.repo IN s.histories }
    THEN [{branch: d.branch, ms: d.committed_ms}] ELSE [] END + COLLECT {
    MATCH (d)<-[:PINS]-(s:Stack) WHERE s.dataset = dataset
    RETURN {branch: null, ms: null} LIMIT 1
  } END[0] AS d_known
WITH dataset, uses, pinned, c, d, c_known, d_known, first, first_branch, first_repo, second, second_branch, second_repo,
  coalesce(first_branch, c_known.branch) AS c_branch, coalesce(second_branch, d_known.branch) AS d_branch,
  CASE WHEN c IS NOT NULL AND d IS NOT NULL THEN COLLECT {
    MATCH (c)-[x:INCOMPATIBLE_WITH]-(d) WHERE x.dataset = dataset
    RETURN x.stack AS name
    ORDER BY name
  } END AS stacks
WITH dataset, uses, pinned, c, d, c_known, d_known, first, first_branch, first_repo, second, second_branch, second_repo,
  c_branch, d_branch, stacks[0] AS stack
WITH uses, pinned, first, first_branch, first_repo, second, second_branch, second_repo, stack, CASE
  WHEN c_known IS NULL OR d_known IS NULL THEN 'unknown commit'
  WHEN c.key = d.key THEN 'same commit'
  WHEN stack IS NOT NULL THEN 'incompatible'
  WHEN EXISTS { MATCH (c)-[x:COMPATIBLE_WITH]-(d) WHERE x.dataset = dataset } THEN 'compatible'
  WHEN EXISTS { MATCH (c)<-[:DEPLOYS]-(x:Deployment)-[:DEPLOYS]->(d) WHERE x.dataset = dataset } THEN 'deployed together'
  WHEN c.repo = d.repo AND c_branch = d_branch THEN 'same branch'
  WHEN c_branch IN ['main', 'master', 'trunk'] AND d_branch IN ['main', 'master', 'trunk']
    AND abs(c_known.ms - d_known.ms) < 86400000 THEN 'same day'
  ELSE 'no rule' END AS rule
WHERE rule = 'incompatible' OR (rule IN ['unknown commit', 'no rule'] AND NOT pinned)
UNWIND uses AS use
// Unknown commits fit nothing: their pairs are one row of a question, and unknown-commits names them.
WITH use.question AS question, rule, stack, use.pairs AS pairs,
  CASE WHEN rule <> 'unknown commit' THEN coalesce(first, first_repo) END AS first,
  CASE WHEN rule <> 'unknown commit' THEN first_branch END AS first_branch,
  CASE WHEN rule <> 'unknown commit' THEN coalesce(second, second_repo) END AS second,
  CASE WHEN rule <> 'unknown commit' THEN second_branch END AS second_branch
WITH question, first, first_branch, second, second_branch, rule, stack, sum(pairs) AS chunk_pairs
RETURN question, first, first_branch, second, second_branch, rule, stack, chunk_pairs
ORDER BY question, CASE rule WHEN 'incompatible' THEN 0 WHEN 'no rule' THEN 1 ELSE 2 END, chunk_pairs DESC, first, second,
  first_branch, second_branch
LIMIT $limit
