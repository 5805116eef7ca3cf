"""Cypher as a walk: the queries that a system generates run over the graph, and what their patterns bind is its walk."""
