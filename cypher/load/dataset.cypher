// title: Load a dataset
// answers: Marks a dataset as loaded.
// parameters: name, folder, digest, questions
// columns:
MERGE (d:Dataset {name: $name})
SET d.folder = $folder, d.digest = $digest, d.questions = $questions, d.loaded_at = datetime()
