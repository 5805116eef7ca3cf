// title: Relevance lost
// answers: At which hop of a walk does relevance to the question fall first, according to which judge, and which edge would have led nearer?
// order: 89
// parameters: run, question = null, limit = 20
// columns: question, judge, model, grader, path, hop, source, relation, target, better
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH q WHERE coalesce(q.invalid, '') = ''
MATCH (a:Answer {run: $run, question: q.id})-[:JUDGED]->(v:Verdict) WHERE a.error IS NULL AND v.fall_hop IS NOT NULL
RETURN q.id AS question, v.judge AS judge, v.model AS model, v.grader AS grader, v.fall_path AS path, v.fall_hop AS hop,
  v.fall_source AS source, v.fall_relation AS relation, v.fall_target AS target, v.fall_better AS better
ORDER BY question, judge, coalesce(model, ''), grader
LIMIT $limit
