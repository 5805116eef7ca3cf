// title: Sources
// answers: Which files of a dataset were loaded whole, and what did they hold?
// parameters:
// columns: key, digest
MATCH (s:Source)
RETURN s.key AS key, s.digest AS digest
