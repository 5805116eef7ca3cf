// title: Load what claims cite
// answers: Links each claim to its citations.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (c:Claim {key: row.claim})
MATCH (t:Citation {key: row.citation})
CREATE (c)-[:CITES]->(t)
