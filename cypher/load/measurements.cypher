// title: Load measurements
// answers: Creates the value of each measure for each question of a run, or the reason why there is none.
// parameters: rows, run
// columns:
UNWIND $rows AS row
CREATE (:Measurement {run: $run, question: row.question, measure: row.measure, value: row.value, reason: row.reason})
