"""Cypher as a walk: a system's queries run over the graph, and what their patterns bind is its traversal."""

#: The plug-ins that it imports.
NEEDS = ("bulk", "embedded", "gold", "graphs")

#: The section of `graphkit --help` in which its commands stand.
SECTION = "graph"
