"""The two ways to score a run: in Python, question by question, and in Cypher, over the whole graph."""
