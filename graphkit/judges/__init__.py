"""Judges: what is asked about an answer, of whom, and what a verdict is worth."""
