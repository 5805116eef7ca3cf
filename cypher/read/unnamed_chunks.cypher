// title: Chunks without an answer
// answers: Which chunks of a dataset did no answer retrieve?
// parameters: dataset, limit
// columns: digest
MATCH (c:Chunk {dataset: $dataset}) WHERE NOT EXISTS { MATCH (:Answer)-[:RETRIEVED]->(c) }
RETURN c.digest AS digest LIMIT $limit
