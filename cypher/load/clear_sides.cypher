// title: Clear the sides of paths
// answers: Forgets how retrieved paths of a dataset's runs are compared on sides, but those of some questions.
// parameters: dataset, questions
// columns:
MATCH (p:RetrievedPath {sided_in: $dataset}) WHERE NOT p.question IN $questions
SET p.sided_in = null, p.at_starts = null, p.at_sources = null, p.at_relations = null, p.at_targets = null,
  p.at_crosses = null, p.at_twice = null, p.gate_sources = null, p.gate_targets = null, p.bare = null, p.mixed = null
