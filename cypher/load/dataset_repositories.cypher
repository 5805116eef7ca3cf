// title: Load the repositories of a dataset
// answers: Remembers which repositories a dataset names, and which of their commits by whole shas, beside those that it lists.
// parameters: name, repositories, commits
// columns:
MERGE (d:Dataset {name: $name})
SET d.repositories = $repositories, d.commits = $commits
