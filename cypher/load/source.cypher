// title: Load a source
// answers: Remembers the content of a file that was loaded whole.
// parameters: key, digest
// columns:
MERGE (s:Source {key: $key})
SET s.digest = $digest
