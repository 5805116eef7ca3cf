// title: Load the repositories of a dataset
// answers: Stores the repositories that a dataset names, and the commits that it names by whole shas besides the listed ones.
// parameters: name, repositories, commits
// columns:
MERGE (d:Dataset {name: $name})
SET d.repositories = $repositories, d.commits = $commits
