// title: Load principals
// answers: Merges the principals of a dataset, with the patterns of what they may read and those as regular expressions.
// parameters: dataset, rows
// columns:
UNWIND $rows AS row
MERGE (p:Principal {dataset: $dataset, name: row.name})
SET p += row.properties
