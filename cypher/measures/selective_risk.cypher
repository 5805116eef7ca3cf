// title: Selective risk
// answers: Which answered questions are answered wrong, as the text of the answer decides? It reads the decisions that an evaluation keeps.
// parameters: dataset, run, questions, decision, unlogged, declined, undecided
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
// What judges agree on takes the place of the words of the answer.
WITH q, a, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: $decision})
  RETURN [s.by_text, s.text] AS decided
} AS decisions
WITH q, a, CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END AS declined, head(decisions) AS decided
WITH q, decided, CASE WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
  WHEN declined IS NULL THEN $unlogged WHEN declined THEN $declined
  WHEN decided IS NULL OR decided[1] IS NULL THEN $undecided WHEN decided[0] IS NULL THEN decided[1] END AS reason
RETURN q.id AS question, CASE WHEN reason IS NOT NULL THEN null WHEN decided[0] THEN 0.0 ELSE 1.0 END AS value, reason
