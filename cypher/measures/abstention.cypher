// title: Abstention
// answers: Was the decision to answer right: over all questions, over those without an answer, over those that were declined, or over those with an answer? $decides names the measure.
// parameters: dataset, run, questions, decides, has_answer, has_none, unlogged, answered
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
// What judges agree on takes the place of the words of the answer.
WITH q, a, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged
WITH q, a, coalesce(q.answerable, true) AS answerable,
  CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END AS declined
WITH q, a, answerable, declined,
  CASE WHEN $decides = 'recall' AND answerable THEN $has_answer
    WHEN $decides = 'over-refusal' AND NOT answerable THEN $has_none
    WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN declined IS NULL THEN $unlogged
    WHEN $decides = 'precision' AND NOT declined THEN $answered END AS reason
RETURN q.id AS question,
  CASE WHEN reason IS NOT NULL THEN null
    WHEN $decides = 'right decision' THEN CASE WHEN answerable <> declined THEN 1.0 ELSE 0.0 END
    WHEN $decides = 'precision' THEN CASE WHEN answerable THEN 0.0 ELSE 1.0 END
    WHEN $decides = 'coverage' THEN CASE WHEN declined THEN 0.0 ELSE 1.0 END
    ELSE CASE WHEN declined THEN 1.0 ELSE 0.0 END END AS value,
  reason
