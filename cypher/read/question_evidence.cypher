// title: Evidence on a question
// answers: What did a run retrieve for a question, what was relevant, and what does its record log?
// parameters: run, question
// columns: relevant, ranking, chunks_logged, walk_logged
MATCH (q:Question {id: $question})
OPTIONAL MATCH (a:Answer {run: $run, question: $question})
RETURN q.relevant_ids AS relevant, a.ranking AS ranking, coalesce(a.chunks_logged, false) AS chunks_logged,
  coalesce(a.walk_logged, false) AS walk_logged
