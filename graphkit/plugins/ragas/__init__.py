"""Data sets, scores and metrics of RAGAS."""

#: The plug-ins that it imports.
NEEDS = ("judging",)
