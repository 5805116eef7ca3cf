// title: State the form of the database
// answers: Keeps which version of the schema everything is written in from now on, and by which graphkit.
// parameters: schema, version
// columns:
MERGE (g:Graphkit {name: 'database'})
SET g.schema = $schema, g.version = $version
