// title: Clear unnamed chunks
// answers: Deletes those of some chunks that no answer retrieved, and returns how many.
// parameters: keys
// columns: deleted
UNWIND $keys AS key
MATCH (c:Chunk {key: key}) WHERE NOT EXISTS { MATCH (:Answer)-[:RETRIEVED]->(c) }
DETACH DELETE c
RETURN count(*) AS deleted
