// title: Outdated scores
// answers: Which runs have computed scores by earlier gold than their dataset has now, or of an earlier graphkit, which kept neither the values that count nor who decides?
// parameters: dataset, decision, grader
// columns: id, file, earlier, principals
MATCH (r:Run)-[:OVER]->(d:Dataset) WHERE $dataset IS NULL OR d.name = $dataset
MATCH (r)-[:GRADED]->(g:Grading) WHERE g.grader = $grader
WITH r, d, collect(g.gold_hash) AS hashes, collect(DISTINCT CASE WHEN g.gold_hash <> d.gold_hash THEN g.principal END) AS principals
WITH r, any(hash IN hashes WHERE hash <> d.gold_hash) AS earlier, principals
WHERE earlier OR NOT EXISTS { MATCH (s:Score {run: r.id, measure: $decision}) }
RETURN r.id AS id, r.file AS file, earlier, principals
ORDER BY id
