// title: Load what citations mean
// answers: Links each citation to the retrieved chunks that it means.
// parameters: run, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})-[x:RETRIEVED]->(k:Chunk) WHERE NOT x.repeat
UNWIND [one IN row.meant WHERE one.chunk = k.id] AS one
MATCH (c:Citation {key: one.citation})
CREATE (c)-[:POINTS_TO]->(k)
