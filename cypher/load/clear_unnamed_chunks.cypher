// title: Clear unnamed chunks
// answers: Deletes some of the chunks that no answer retrieved, and returns how many.
// parameters: limit
// columns: deleted
MATCH (c:Chunk) WHERE NOT EXISTS { MATCH (:Answer)-[:RETRIEVED]->(c) }
WITH c LIMIT $limit
DETACH DELETE c
RETURN count(*) AS deleted
