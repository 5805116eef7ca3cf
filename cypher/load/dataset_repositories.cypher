// title: Load the repositories of a dataset
// answers: Stores the repositories that a dataset names, the rules for them, and the commits that it names by whole shas besides the listed ones.
// parameters: name, repositories, commits, prefixes, kinds, pattern, stated, digest
// columns:
MERGE (d:Dataset {name: $name})
SET d.repositories = $repositories, d.commits = $commits, d.repository_prefixes = $prefixes,
  d.repository_kinds = $kinds, d.repository_pattern = $pattern, d.repository_stated = $stated,
  d.repository_digest = $digest
