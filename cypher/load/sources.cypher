// title: Sources
// answers: Which files of a dataset were loaded completely, and with which digests?
// parameters:
// columns: key, digest
MATCH (s:Source)
RETURN s.key AS key, s.digest AS digest
