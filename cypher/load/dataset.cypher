// title: Load a dataset
// answers: Marks a dataset as loaded.
// parameters: name, folder, digest, gold_hash, questions
// columns:
MERGE (d:Dataset {name: $name})
SET d.folder = $folder, d.digest = $digest, d.gold_hash = $gold_hash, d.questions = $questions, d.loaded_at = datetime()
