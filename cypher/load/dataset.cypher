// title: Load a dataset
// answers: Marks a dataset as loaded, by what was read of its repositories' histories till then.
// parameters: name, folder, digest, gold_hash, questions, changes, files
// columns:
MERGE (d:Dataset {name: $name})
SET d.folder = $folder, d.digest = $digest, d.gold_hash = $gold_hash, d.questions = $questions, d.changes = $changes,
  d.files = $files, d.loaded_at = datetime()
