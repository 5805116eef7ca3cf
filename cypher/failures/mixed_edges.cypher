// title: Edges between two versions
// answers: Which traversed edges join nodes that were read at commits of different versions, where the question is about several? Each end fits one of its gold paths, but no gold path fits both.
// order: 97
// parameters: run, question = null, limit = 20
// columns: question, source, source_commit, relation, target, target_commit
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH r, q WHERE coalesce(q.invalid, '') = ''
MATCH (a:Answer {run: $run, question: q.id})-[:WALKED]->(p:RetrievedPath) WHERE a.error IS NULL AND p.mixed IS NOT NULL
UNWIND [i IN range(0, size(p.sources) - 1) WHERE p.mixed[i]] AS i
WITH DISTINCT q.id AS question, p.sources[i] AS source, p.source_commits[i] AS source_commit, p.relations[i] AS relation,
  p.targets[i] AS target, p.target_commits[i] AS target_commit
RETURN question, source, CASE WHEN source_commit = '' THEN null ELSE source_commit END AS source_commit,
  CASE WHEN relation = '' THEN null ELSE relation END AS relation, target,
  CASE WHEN target_commit = '' THEN null ELSE target_commit END AS target_commit
ORDER BY question, source, coalesce(relation, ''), target, coalesce(source_commit, ''), coalesce(target_commit, '')
LIMIT $limit
