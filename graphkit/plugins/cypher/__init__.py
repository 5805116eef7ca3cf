"""Cypher as a walk: a system's queries run over the graph, and what their patterns bind is its traversal."""
