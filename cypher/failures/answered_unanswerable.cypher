// title: Answered without an answer
// answers: Which questions that have no answer did the run answer, why is there none, who says that it answers, and what had it walked and retrieved?
// order: 35
// parameters: run, question = null, limit = 20
// columns: question, why_not, said_by, walked, retrieved
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND NOT coalesce(q.answerable, true)
WITH q, a, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged
WITH q, a, judged WHERE NOT CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END
WITH q, a, judged, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, COLLECT {
  MATCH (a)-[:RETRIEVED]->(k:Chunk)
  RETURN DISTINCT k.id
} AS chunks
RETURN q.id AS question, q.why_not AS why_not, CASE WHEN a.abstained IS NOT NULL THEN 'record' WHEN size(judged) = 1 THEN 'judge' ELSE 'words' END AS said_by, size(walked) AS walked,
  size(chunks) AS retrieved
ORDER BY question
LIMIT $limit
