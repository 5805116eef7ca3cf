// title: Load a dataset
// answers: Marks a dataset as loaded.
// parameters: name, folder, questions
// columns:
MERGE (d:Dataset {name: $name})
SET d.folder = $folder, d.questions = $questions, d.loaded_at = datetime()
