// title: Load parents
// answers: Links each commit to those of its parents that the graph holds.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (c:Commit {key: row.key})
UNWIND row.parents AS parent
MATCH (p:Commit {key: c.repo + '@' + parent})
MERGE (c)-[:PARENT]->(p)
