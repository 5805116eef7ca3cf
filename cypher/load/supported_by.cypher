// title: Load evidence
// answers: Links each claim to the retrieved chunks that its judge named, with the words that were quoted.
// parameters: run, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})-[x:RETRIEVED]->(k:Chunk) WHERE NOT x.repeat
UNWIND [one IN row.evidence WHERE one.chunk = k.id] AS one
MATCH (c:Claim {key: one.claim})
CREATE (c)-[:SUPPORTED_BY {quote: one.quote, occurs: one.occurs, alone: one.alone}]->(k)
