// title: Unknown commits
// answers: Which chunks come from commits that neither the dataset nor a history of its repositories holds, and which names of commits are ambiguous?
// order: 110
// parameters: run, question = null, limit = 20
// columns: question, repo, commit, branch, chunks, best_rank, reason
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
  AND EXISTS { MATCH (a)-[first:RETRIEVED]->(read:Chunk) WHERE NOT first.repeat AND coalesce(first.commit_key, read.commit) IS NOT NULL }
MATCH (a)-[x:RETRIEVED]->(k:Chunk) WHERE NOT x.repeat
OPTIONAL MATCH (c:Commit {key: x.commit_key})
WITH r, q, x, k, c WHERE c IS NULL OR NOT (
  (c.history AND EXISTS { MATCH (s:Dataset) WHERE s.name = r.dataset AND c.repo IN s.histories })
  OR EXISTS { MATCH (c)<-[:LISTS]-(s:Dataset) WHERE s.name = r.dataset }
  OR EXISTS { MATCH (c)<-[:PINS]-(s:Stack) WHERE s.dataset = r.dataset })
RETURN q.id AS question, k.repo AS repo, coalesce(k.commit, x.commit) AS commit, k.branch AS branch, count(*) AS chunks,
  min(x.rank) AS best_rank, x.ambiguous AS reason
ORDER BY question, best_rank
LIMIT $limit
