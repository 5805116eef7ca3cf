"""Care for a graph."""
