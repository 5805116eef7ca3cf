"""Measures of the overlap of texts: chunks by their lines and characters, answers by their words."""
