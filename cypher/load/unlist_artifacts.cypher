// title: Artifacts that left
// answers: Takes back what a dataset's knowledge graph said of artifacts that it no longer lists: only their ids are known.
// parameters: dataset, rows
// columns:
UNWIND $rows AS row
MATCH (a:Artifact {dataset: $dataset, id: row.id})
SET a.repo = row.repo, a.path = row.path, a.symbol = row.symbol, a.known = false
REMOVE a.kind, a.aliases
