// title: Evidence on questions
// answers: What did a run retrieve for each of some questions, what was relevant, which nodes do its gold paths have, and what does its record log?
// parameters: run, questions
// columns: question, relevant, ranking, chunks_logged, walk_logged, gold_nodes
UNWIND $questions AS id
MATCH (q:Question {id: id})
OPTIONAL MATCH (a:Answer {run: $run, question: id})
RETURN id AS question, q.relevant_ids AS relevant, a.ranking AS ranking, coalesce(a.chunks_logged, false) AS chunks_logged,
  coalesce(a.walk_logged, false) AS walk_logged,
  COLLECT { MATCH (q)-[:EXPECTS]->(g:GoldPath) UNWIND g.sources + g.targets AS node RETURN DISTINCT node } AS gold_nodes
