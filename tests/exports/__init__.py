"""Scores for other tools."""
