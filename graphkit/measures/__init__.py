"""Measures: pure functions of one question's records. See ``graphkit.measures.registry`` for the list."""
