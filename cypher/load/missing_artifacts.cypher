// title: Missing artifacts
// answers: Which of these ids does a dataset hold no artifact for?
// parameters: dataset, ids
// columns: id
UNWIND $ids AS id
OPTIONAL MATCH (a:Artifact {dataset: $dataset, id: id})
WITH id, a WHERE a IS NULL
RETURN id
