// title: Clear artifacts
// answers: Deletes some of the artifacts of a dataset, and returns how many.
// parameters: dataset, limit
// columns: deleted
MATCH (a:Artifact {dataset: $dataset})
WITH a LIMIT $limit
DETACH DELETE a
RETURN count(*) AS deleted
