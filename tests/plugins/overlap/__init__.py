"""Measures of the overlap of texts."""
