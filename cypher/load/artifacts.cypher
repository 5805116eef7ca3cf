// title: Load artifacts
// answers: Merges the nodes of a knowledge graph.
// parameters: rows
// columns:
UNWIND $rows AS row
MERGE (a:Artifact {id: row.id})
SET a.repo = row.repo, a.path = row.path, a.symbol = row.symbol, a.kind = row.kind, a.known = true
