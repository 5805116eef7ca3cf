"""Evaluations over time: as a list, held to their median, and drawn on the page."""
