// title: Unnamed chunks
// answers: Which chunks did no answer retrieve?
// parameters: limit
// columns: key
MATCH (c:Chunk) WHERE NOT EXISTS { MATCH (:Answer)-[:RETRIEVED]->(c) }
RETURN c.key AS key LIMIT $limit
