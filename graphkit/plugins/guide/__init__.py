"""A page of what a query finds, and a guide through the named queries for Neo4j Browser."""
