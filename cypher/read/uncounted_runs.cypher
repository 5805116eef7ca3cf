// title: Runs without counted values
// answers: Which runs did an earlier graphkit score, which kept neither the values that count nor who decides?
// parameters: decision, grader
// columns: id, file
MATCH (r:Run)
WHERE EXISTS { MATCH (s:Score {run: r.id, grader: $grader}) }
  AND NOT EXISTS { MATCH (d:Score {run: r.id, measure: $decision}) }
RETURN r.id AS id, r.file AS file
ORDER BY id
