// title: Datasets
// answers: Which datasets does the graph hold, and have the histories of their repositories changed since they were loaded?
// parameters:
// columns: name, folder, digest, questions, partial, schema, outdated
MATCH (d:Dataset)
OPTIONAL MATCH (r:Repository) WHERE r.name IN d.repositories
WITH d, sum(coalesce(r.changes, 0)) AS changes
RETURN d.name AS name, d.folder AS folder, d.digest AS digest, d.questions AS questions,
  coalesce(d.partial, false) AS partial,
  CASE WHEN coalesce(d.digest, '') IN ['', d.schema_digest] THEN d.schema END AS schema,
  changes <> coalesce(d.changes, 0) AS outdated
ORDER BY name
