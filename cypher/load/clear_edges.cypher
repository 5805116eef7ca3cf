// title: Clear edges
// answers: Deletes some of the edges of a knowledge graph, and returns how many.
// parameters: graph, limit
// columns: deleted
MATCH (a)-[e:EDGE]->(b) WHERE e.graph = $graph
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS deleted
