// title: Begin a run
// answers: Creates a run of a dataset that isn't complete yet; kept is the rule of a run that is stored in part.
// parameters: id, dataset, digest, content, file, origin, kept, schema
// columns:
MERGE (r:Run {id: $id})
SET r.dataset = $dataset, r.digest = $digest, r.content = $content, r.file = $file, r.origin = $origin,
  r.kept = $kept, r.schema = $schema, r.schema_digest = $digest, r.complete = false
WITH r WHERE NOT EXISTS { MATCH (r)-[:OVER]->(:Dataset) }
MATCH (d:Dataset {name: $dataset})
CREATE (r)-[:OVER]->(d)
