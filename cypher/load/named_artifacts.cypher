// title: Load artifacts named by paths
// answers: Merges artifacts of which only the id is known; those that are new are marked as not known.
// parameters: dataset, rows
// columns:
UNWIND $rows AS row
MERGE (a:Artifact {dataset: $dataset, id: row.id})
ON CREATE SET a.repo = row.repo, a.path = row.path, a.symbol = row.symbol, a.known = false
