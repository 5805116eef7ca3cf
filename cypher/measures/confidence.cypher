// title: Confidence
// answers: How confident does each record say that it is?
// parameters: dataset, run, questions, unlogged
// columns: question, value, reason
UNWIND $questions AS question
OPTIONAL MATCH (a:Answer {run: $run, question: question})
WITH question, a, CASE WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
  WHEN a.confidence IS NULL THEN $unlogged END AS reason
RETURN question, CASE WHEN reason IS NULL THEN toFloat(a.confidence) END AS value, reason
