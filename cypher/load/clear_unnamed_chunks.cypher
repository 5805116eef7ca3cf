// title: Clear unnamed chunks
// answers: Deletes those of some chunks that no answer retrieved, and returns how many.
// parameters: digests
// columns: deleted
UNWIND $digests AS digest
MATCH (c:Chunk {digest: digest})
// Another process may retrieve it now: what is written is locked before it is looked at.
SET c.digest = digest
WITH c WHERE NOT EXISTS { MATCH (:Answer)-[:RETRIEVED]->(c) }
DETACH DELETE c
RETURN count(*) AS deleted
