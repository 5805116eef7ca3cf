// title: Unscored questions
// answers: Why have questions of a run no value by a measure?
// parameters: run, measure
// columns: question, reason
MATCH (s:Score {run: $run, measure: $measure}) WHERE s.value IS NULL AND s.reason IS NOT NULL
RETURN s.question AS question, s.reason AS reason
