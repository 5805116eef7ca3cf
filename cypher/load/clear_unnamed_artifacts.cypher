// title: Clear unnamed artifacts
// answers: Deletes some of the artifacts that nothing names and returns how many; any remaining knowledge graph may list them.
// parameters: limit
// columns: deleted
OPTIONAL MATCH (d:Dataset)
WITH count(d) AS datasets
MATCH (a:Artifact) WHERE NOT EXISTS { MATCH (a)--() } AND (datasets = 0 OR NOT coalesce(a.known, false))
WITH a LIMIT $limit
DELETE a
RETURN count(*) AS deleted
