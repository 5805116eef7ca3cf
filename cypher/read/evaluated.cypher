// title: Evaluated runs
// answers: What are the means of each run by graphkit's measures, over the questions that were scored, and since when does the graph hold the run?
// parameters: own
// columns: run, dataset, at, questions, failed, measure, gold_hash, version, mean, scored, total
MATCH (r:Run {complete: true})-[:GRADED]->(g:Grading {complete: true, grader: $own})
MATCH (s:Score {run: r.id, measure: g.measure})
RETURN r.id AS run, r.dataset AS dataset, r.loaded_at AS at, r.questions AS questions, r.failed AS failed,
  g.measure AS measure, g.gold_hash AS gold_hash, g.version AS version,
  avg(s.value) AS mean, count(s.value) AS scored, count(s) AS total
ORDER BY at, run, measure
