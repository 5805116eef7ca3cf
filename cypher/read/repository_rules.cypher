// title: Rules for repositories
// answers: By which rules do the ids of a dataset name repositories, and does its knowledge graph state others?
// parameters: dataset
// columns: prefixes, kinds, pattern, stated, digest
MATCH (d:Dataset {name: $dataset}) WHERE d.repository_digest IS NOT NULL
RETURN d.repository_prefixes AS prefixes, d.repository_kinds AS kinds, d.repository_pattern AS pattern,
  d.repository_stated AS stated, d.repository_digest AS digest
