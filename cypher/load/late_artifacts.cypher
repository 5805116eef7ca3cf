// title: Link chunks to late artifacts
// answers: Links chunks of a dataset to artifacts that were loaded after them.
// parameters: dataset
// columns:
MATCH (c:Chunk {dataset: $dataset}) WHERE NOT EXISTS { MATCH (c)-[:OF]->(:Artifact) }
MATCH (a:Artifact {dataset: $dataset, id: c.id})
CREATE (c)-[:OF]->(a)
