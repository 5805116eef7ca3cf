// title: Invented edges
// answers: Which edges did the run traverse that the question lists as absent, and did it decline?
// order: 36
// parameters: run, question = null, limit = 20
// columns: question, source, relation, target, declined
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND q.absent_sources IS NOT NULL
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, [n IN range(0, size(q.absent_sources) - 1) |
  [q.absent_sources[n], q.absent_relations[n], q.absent_targets[n]]] AS absent
UNWIND [w IN walked WHERE any(e IN absent
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS w
RETURN q.id AS question, w[0] AS source, CASE WHEN w[1] = '' THEN null ELSE w[1] END AS relation, w[2] AS target,
  a.declined AS declined
ORDER BY question, source, relation, target
LIMIT $limit
