// title: Load a dataset
// answers: Marks a dataset as loaded, with the state of the histories that it was loaded with.
// parameters: name, folder, digest, gold_hash, questions, changes, files, partial, graphs, edgeless, schema
// columns:
MERGE (d:Dataset {name: $name})
SET d.folder = $folder, d.digest = $digest, d.gold_hash = $gold_hash, d.questions = $questions, d.changes = $changes,
  d.files = $files, d.partial = $partial, d.graphs = $graphs, d.edgeless = $edgeless, d.schema = $schema, d.schema_digest = $digest, d.loaded_at = datetime()
