// title: Clear chunks of the former form
// answers: Deletes some of the chunks that a version before 15 wrote and no answer names any more, and returns how many.
// parameters: limit
// columns: deleted
MATCH (c:Chunk) WHERE c.dataset IS NULL AND NOT EXISTS { MATCH (:Answer)-[:RETRIEVED]->(c) }
WITH c LIMIT $limit
DETACH DELETE c
RETURN count(*) AS deleted
