// title: Clear unnamed artifacts
// answers: Deletes some of the artifacts of a dataset that its knowledge graph doesn't list and no edge names, and returns how many.
// parameters: dataset, limit
// columns: deleted
MATCH (a:Artifact {dataset: $dataset})
WHERE NOT a.known AND NOT EXISTS { MATCH (a)-[:GOLD|EDGE|TRAVERSED|SAW|SEEDED]-() }
WITH a LIMIT $limit
// Another process may name it now: what is written is locked, and looked at again.
SET a.known = false
WITH a WHERE NOT EXISTS { MATCH (a)-[:GOLD|EDGE|TRAVERSED|SAW|SEEDED]-() }
DETACH DELETE a
RETURN count(*) AS deleted
