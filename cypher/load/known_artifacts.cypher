// title: Known artifacts
// answers: Which artifacts of a dataset do its knowledge graphs list, or not list?
// parameters: dataset, known
// columns: id
MATCH (a:Artifact {dataset: $dataset}) WHERE a.known = $known
RETURN a.id AS id
