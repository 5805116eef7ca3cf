// title: Clear decisions
// answers: Deletes the decisions whether some answers of a run are right.
// parameters: run, measure, questions
// columns:
UNWIND $questions AS question
MATCH (:Answer {run: $run, question: question})-[:SCORED]->(s:Score) WHERE s.measure = $measure
DETACH DELETE s
