// title: Unknown commits
// answers: Which chunks come from commits that neither the dataset nor a history that was read knows?
// order: 110
// parameters: run, question = null, limit = 20
// columns: question, repo, commit, branch, chunks, best_rank
MATCH (r:Run {id: $run})
// Without a commit that its dataset knows, coherence isn't scored.
MATCH (q:Question {dataset: r.dataset}) WHERE coalesce(q.invalid, '') = '' AND ($question IS NULL OR q.id = $question)
  AND (EXISTS { MATCH (:Dataset {name: r.dataset})-[:LISTS]->(:Commit) } OR EXISTS { MATCH (:Commit {history: true}) }
    OR EXISTS { MATCH (:Stack {dataset: r.dataset})-[:PINS]->(:Commit) })
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
  AND EXISTS { MATCH (a)-[first:RETRIEVED]->(read:Chunk) WHERE NOT first.repeat AND read.commit IS NOT NULL }
MATCH (a)-[x:RETRIEVED]->(k:Chunk) WHERE NOT x.repeat
OPTIONAL MATCH (c:Commit {key: k.commit_key})
WITH r, q, x, k, c WHERE c IS NULL OR NOT (c.history
  OR EXISTS { MATCH (c)<-[:LISTS]-(s:Dataset) WHERE s.name = r.dataset }
  OR EXISTS { MATCH (c)<-[:PINS]-(s:Stack) WHERE s.dataset = r.dataset })
RETURN q.id AS question, k.repo AS repo, k.commit AS commit, k.branch AS branch, count(*) AS chunks,
  min(x.rank) AS best_rank
ORDER BY question, best_rank
LIMIT $limit
