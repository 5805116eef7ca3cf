// title: Load the sides of paths
// answers: Stores how retrieved paths are compared with gold paths that have commits of their own.
// parameters: run, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})-[:WALKED]->(p:RetrievedPath) WHERE p.index = row.index
SET p.sided_in = row.sided_in, p.at_starts = row.at_starts, p.at_sources = row.at_sources,
  p.at_relations = row.at_relations, p.at_targets = row.at_targets, p.at_crosses = row.at_crosses,
  p.at_twice = row.at_twice, p.gate_sources = row.gate_sources, p.gate_targets = row.gate_targets,
  p.bare = row.bare, p.mixed = row.mixed
