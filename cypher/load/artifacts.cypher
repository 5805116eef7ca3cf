// title: Load artifacts
// answers: Merges the nodes of a knowledge graph.
// parameters: dataset, rows
// columns:
UNWIND $rows AS row
MERGE (a:Artifact {dataset: $dataset, id: row.id})
SET a.repo = row.repo, a.path = row.path, a.symbol = row.symbol, a.kind = row.kind, a.aliases = row.aliases,
    a.known = true
