// title: Invented edges
// answers: How many distinct edges were traversed that the question lists as absent?
// parameters: dataset, run, questions, none, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, [n IN range(0, size(coalesce(q.absent_sources, [])) - 1) |
  [q.absent_sources[n], q.absent_relations[n], q.absent_targets[n]]] AS absent
WITH q, a, absent, [w IN walked WHERE any(e IN absent
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS invented
WITH q, invented, CASE WHEN size(absent) = 0 THEN $none
  WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
  WHEN NOT a.walk_logged THEN $unlogged END AS reason
RETURN q.id AS question, CASE WHEN reason IS NULL THEN toFloat(size(invented)) END AS value, reason
