"""The graph database: the connection, the embedded server, the schema, loading and named queries."""
