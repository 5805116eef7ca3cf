// title: Answered without an answer
// answers: Which questions that have no answer did the run answer, why is there none, and what had it walked and retrieved?
// order: 35
// parameters: run, question = null, limit = 20
// columns: question, why_not, stated, walked, retrieved
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND NOT a.declined AND NOT coalesce(q.answerable, true)
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, COLLECT {
  MATCH (a)-[:RETRIEVED]->(k:Chunk)
  RETURN DISTINCT k.id
} AS chunks
RETURN q.id AS question, q.why_not AS why_not, a.abstained IS NOT NULL AS stated, size(walked) AS walked,
  size(chunks) AS retrieved
ORDER BY question
LIMIT $limit
