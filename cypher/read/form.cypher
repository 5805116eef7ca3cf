// title: Form of the database
// answers: In which version of the schema is the database written, and by which graphkit?
// parameters:
// columns: schema, version
MATCH (g:Graphkit)
RETURN g.schema AS schema, g.version AS version
