"""The page of a query, and the guide for Neo4j Browser."""
