// title: Evidence on questions
// answers: What did a run retrieve for each of some questions, what was relevant, what is its gold, which edges did it walk between the ends of a gold edge, which files were expected and named, and what does its record log?
// parameters: run, questions
// columns: question, relevant, ranking, chunks_logged, walk_logged, gold_paths, gold, walked, expected_files, files, files_logged
MATCH (r:Run {id: $run})
UNWIND $questions AS id
WITH r, id
MATCH (q:Question {dataset: r.dataset, id: id})
OPTIONAL MATCH (a:Answer {run: $run, question: id})
WITH id, q, a, COUNT { (q)-[:EXPECTS]->(:GoldPath) } AS gold_paths, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.relations[i], g.targets[i]]
} AS gold, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, coalesce(a.evidence_files, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.file IS NOT NULL
  RETURN DISTINCT c.file
}) AS files
RETURN id AS question, q.relevant_ids AS relevant, a.ranking AS ranking, coalesce(a.chunks_logged, false) AS chunks_logged,
  coalesce(a.walk_logged, false) AS walk_logged,
  gold_paths, gold, [w IN walked WHERE any(e IN gold WHERE e[0] IN [w[0], w[2]] AND e[2] IN [w[0], w[2]])] AS walked,
  q.expected_files AS expected_files, files, a IS NOT NULL AND (a.chunks_logged OR a.evidence_files IS NOT NULL) AS files_logged
