"""Judges: what is asked about an answer, of whom, and what a verdict is worth."""

#: The modules that plug-ins may import.
__all__ = ["contract", "known_judges"]
