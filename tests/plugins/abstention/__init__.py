"""Measures of abstention."""
