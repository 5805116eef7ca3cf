"""Measures of chunks by what they cover."""
