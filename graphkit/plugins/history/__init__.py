"""Evaluations over time: as a list, held to their median, and drawn on the page."""

#: The section of `graphkit --help` in which its command stands.
SECTION = "understand"
