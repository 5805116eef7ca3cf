// title: Load a dataset
// answers: Marks a dataset as loaded, by what was read of its repositories' histories till then.
// parameters: name, folder, digest, questions, changes
// columns:
MERGE (d:Dataset {name: $name})
SET d.folder = $folder, d.digest = $digest, d.questions = $questions, d.changes = $changes, d.loaded_at = datetime()
