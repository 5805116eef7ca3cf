// title: Broken criteria
// answers: Which criteria of its question did an answer break, according to which judge or to the record, and by which edge or retrieved id?
// order: 79
// parameters: run, question = null, limit = 20
// columns: question, judge, model, rule, about, criterion, weight, reason, source, relation, target, retrieved, repo
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
MATCH (a:Answer {run: $run, question: q.id})-[:JUDGED]->(v:Verdict) WHERE a.error IS NULL
UNWIND range(0, size(coalesce(v.broken_rules, [])) - 1) AS i
RETURN q.id AS question, v.judge AS judge, v.model AS model, v.broken_rules[i] AS rule, v.broken_about[i] AS about,
  v.broken_criteria[i] AS criterion, v.broken_weights[i] AS weight, v.broken_reasons[i] AS reason,
  CASE WHEN v.broken_sources[i] <> '' THEN v.broken_sources[i] END AS source,
  CASE WHEN v.broken_relations[i] <> '' THEN v.broken_relations[i] END AS relation,
  CASE WHEN v.broken_targets[i] <> '' THEN v.broken_targets[i] END AS target,
  CASE WHEN v.broken_retrieved[i] <> '' THEN v.broken_retrieved[i] END AS retrieved,
  CASE WHEN v.broken_repos[i] <> '' THEN v.broken_repos[i] END AS repo
ORDER BY question, judge, coalesce(model, ''), i
LIMIT $limit
