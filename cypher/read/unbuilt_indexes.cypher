// title: Indexes that Neo4j still builds
// answers: Which indexes aren't complete, and which failed?
// parameters:
// columns: name, state
SHOW INDEXES YIELD name, state WHERE state <> 'ONLINE'
RETURN name, state
