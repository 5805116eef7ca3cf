// title: Claims of answers
// answers: What does each of some answers claim by each judge, with which support, and on which traversed edge does it rest?
// parameters: run, questions
// columns: question, judge, claim, support, source, relation, target, in_gold
UNWIND $questions AS id
MATCH (:Answer {run: $run, question: id})-[:CLAIMS]->(c:Claim)
RETURN id AS question, c.judge AS judge, c.text AS claim, c.support AS support, c.edge_source AS source,
  CASE WHEN c.edge_relation = '' THEN null ELSE c.edge_relation END AS relation, c.edge_target AS target,
  c.edge_in_gold AS in_gold
ORDER BY judge, coalesce(c.model, ''), c.position
