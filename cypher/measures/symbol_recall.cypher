// title: Symbol recall
// answers: Which share of the expected symbols was retrieved? Of a question that asks for it, by the last component as well.
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.symbol IS NOT NULL
  UNWIND CASE WHEN q.symbol_match = 'last_component' THEN [c.symbol, c.last_symbol] ELSE [c.symbol] END AS symbol
  RETURN DISTINCT symbol
} AS symbols
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(q.expected_symbols) = 0 OR NOT a.chunks_logged THEN null
    ELSE toFloat(size([name IN q.expected_symbols WHERE name IN symbols])) / size(q.expected_symbols) END AS value,
  CASE WHEN size(q.expected_symbols) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.chunks_logged THEN $unlogged END AS reason
