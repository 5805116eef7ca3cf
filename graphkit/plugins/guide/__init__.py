"""What a query finds, drawn on a page, and a guide through the named queries for Neo4j Browser."""
