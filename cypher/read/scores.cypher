// title: Scores
// answers: What are the values of a run by a measure?
// parameters: run, measure
// columns: questions, values, gold
MATCH (s:Score {run: $run, measure: $measure}) WHERE s.value IS NOT NULL
RETURN collect(s.question) AS questions, collect(s.value) AS values,
  collect(coalesce(s.gold_hash, '')) AS gold
