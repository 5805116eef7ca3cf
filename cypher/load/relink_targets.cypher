// title: Link the chunks of citations again
// answers: Links some of the citations of a judge on a run to the chunks of answers that were loaded again, and returns how many.
// parameters: run, name, limit
// columns: linked
MATCH (a:Answer {run: $run})-[:CITES]->(c:Citation {judge: $name})-[s:POINTS_TO]->(k:Chunk)
WHERE NOT EXISTS { MATCH (a)-[:RETRIEVED]->(k) }
MATCH (a)-[x:RETRIEVED]->(n:Chunk) WHERE n.id = k.id AND NOT x.repeat
WITH c, s, n LIMIT $limit
CREATE (c)-[:POINTS_TO]->(n)
DELETE s
RETURN count(*) AS linked
