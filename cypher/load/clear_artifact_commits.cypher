// title: Clear artifact commits
// answers: Deletes some of the links from artifacts to the commits a knowledge graph read them at.
// parameters: graph, limit
// columns: deleted
MATCH (a)-[e:AT]->(c) WHERE e.graph = $graph
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS deleted
