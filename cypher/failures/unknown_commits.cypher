// title: Unknown commits
// answers: Which chunks come from commits that the graph does not know?
// parameters: run, question = null, limit = 20
// columns: question, repo, commit, branch, chunks, best_rank
MATCH (r:Run {id: $run})
MATCH (q:Question {dataset: r.dataset}) WHERE $question IS NULL OR q.id = $question
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
MATCH (a)-[x:RETRIEVED]->(k:Chunk) WHERE NOT x.repeat
OPTIONAL MATCH (c:Commit {key: k.commit_key})
WITH q, x, k, c WHERE c IS NULL
RETURN q.id AS question, k.repo AS repo, k.commit AS commit, k.branch AS branch, count(*) AS chunks,
  min(x.rank) AS best_rank
ORDER BY question, best_rank
LIMIT $limit
