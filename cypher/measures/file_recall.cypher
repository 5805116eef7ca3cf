// title: File recall
// answers: Which share of the expected files is among the evidence files?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, coalesce(a.evidence_files, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.file IS NOT NULL
  RETURN DISTINCT c.file
}) AS files
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.expected_files) = 0
      OR NOT (a.chunks_logged OR a.evidence_files IS NOT NULL) THEN null
    ELSE toFloat(size([file IN q.expected_files WHERE file IN files])) / size(q.expected_files) END AS value,
  CASE WHEN size(q.expected_files) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT (a.chunks_logged OR a.evidence_files IS NOT NULL) THEN $unlogged END AS reason
