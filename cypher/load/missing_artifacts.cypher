// title: Missing artifacts
// answers: Which of these ids does the graph hold no artifact for?
// parameters: ids
// columns: id
UNWIND $ids AS id
OPTIONAL MATCH (a:Artifact {id: id})
WITH id, a WHERE a IS NULL
RETURN id
