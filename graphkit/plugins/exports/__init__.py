"""Scores of a run in the forms of other tools: annotations of spans, events of telemetry, and tracked runs."""

#: The plug-ins that it imports.
NEEDS = ("logs",)
