// title: Link chunks to artifacts
// answers: Links the chunks that a run retrieved for some questions to their artifacts, unless they are linked.
// parameters: run, rows
// columns:
// Another process may link the same chunks now: MERGE looks again under a lock, from the chunk, which has one artifact.
UNWIND $rows AS question
MATCH (:Answer {run: $run, question: question})-[:RETRIEVED]->(c:Chunk)
WITH DISTINCT c WHERE NOT EXISTS { MATCH (c)-[:OF]->(:Artifact) }
MATCH (a:Artifact {dataset: c.dataset, id: c.id})
MERGE (c)-[:OF]->(a)
