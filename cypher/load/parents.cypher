// title: Load parents
// answers: Links each commit to those of its parents that the graph holds.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (c:Commit {key: row.key})
UNWIND row.parent_keys AS parent
MATCH (p:Commit {key: parent})
MERGE (c)-[:PARENT]->(p)
