// title: Link evidence again
// answers: Links some of the claims of a judge on a run to the chunks of answers that were loaded again, and returns how many.
// parameters: run, name, limit
// columns: linked
MATCH (a:Answer {run: $run})-[:CLAIMS]->(c:Claim {judge: $name})-[s:SUPPORTED_BY]->(k:Chunk)
WHERE NOT EXISTS { MATCH (a)-[:RETRIEVED]->(k) }
MATCH (a)-[x:RETRIEVED]->(n:Chunk) WHERE n.id = k.id AND NOT x.repeat
WITH c, s, n LIMIT $limit
CREATE (c)-[:SUPPORTED_BY {quote: s.quote, occurs: s.occurs, alone: s.alone}]->(n)
DELETE s
RETURN count(*) AS linked
