"""Comparisons of two runs, from each source."""
