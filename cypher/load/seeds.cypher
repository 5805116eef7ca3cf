// title: Load seeds
// answers: Links each answer to the artifacts that its question was linked to, with rank, score and mention, and returns how many.
// parameters: dataset, run, artifacts, rows
// columns: joined
// Each artifact is looked up once; nothing is created if one is missing.
UNWIND $artifacts AS id
MATCH (n:Artifact {dataset: $dataset, id: id})
WITH collect(n) AS nodes WHERE [n IN nodes | n.id] = $artifacts
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})
WITH row, a, nodes[row.to] AS n
CREATE (a)-[:SEEDED {rank: row.rank, score: row.score, mention: row.mention}]->(n)
RETURN count(*) AS joined
