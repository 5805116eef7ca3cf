"""Data sets, scores and metrics of RAGAS."""

#: The plug-ins that it imports.
NEEDS = ("judging", "logs")

#: The section of `graphkit --help` in which its command stands.
SECTION = "more"
