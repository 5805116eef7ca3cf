// title: Over-refusals
// answers: Which questions that have an answer did the run decline, who says so, and how much had it walked and retrieved?
// order: 34
// parameters: run, question = null, limit = 20
// columns: question, said_by, walked, retrieved
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND coalesce(q.answerable, true)
WITH q, a, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged
WITH q, a, judged WHERE CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END
WITH q, a, judged, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, COLLECT {
  MATCH (a)-[:RETRIEVED]->(k:Chunk)
  RETURN DISTINCT k.id
} AS chunks
RETURN q.id AS question, CASE WHEN a.abstained IS NOT NULL THEN 'record' WHEN size(judged) = 1 THEN 'judge' ELSE 'words' END AS said_by, size(walked) AS walked, size(chunks) AS retrieved
ORDER BY question
LIMIT $limit
