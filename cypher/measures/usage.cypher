// title: Usage
// answers: How much time, money, tokens or calls did each answer take, as its record states?
// parameters: dataset, run, questions, field, per_unit, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, CASE $field WHEN 'latency_ms' THEN a.latency_ms WHEN 'cost' THEN a.cost WHEN 'prompt_tokens' THEN a.prompt_tokens
  WHEN 'output_tokens' THEN a.output_tokens WHEN 'model_calls' THEN a.model_calls END AS stated
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR stated IS NULL THEN null ELSE toFloat(stated) / $per_unit END AS value,
  CASE WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN stated IS NULL THEN $unlogged END AS reason
