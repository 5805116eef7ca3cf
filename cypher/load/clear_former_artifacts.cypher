// title: Clear artifacts of the former form
// answers: Deletes some of the artifacts that a version before 15 wrote and nothing names any more, and returns how many; any dataset that it wrote may list them.
// parameters: schema, limit
// columns: deleted
OPTIONAL MATCH (d:Dataset) WHERE coalesce(d.schema, '') <> $schema
WITH count(d) AS datasets
MATCH (a:Artifact) WHERE a.dataset IS NULL AND NOT EXISTS { MATCH (a)--() } AND (datasets = 0 OR NOT coalesce(a.known, false))
WITH a LIMIT $limit
DELETE a
RETURN count(*) AS deleted
