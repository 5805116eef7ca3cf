"""The baseline without retrieval: a model answers from its training alone."""

#: The plug-ins that it imports.
NEEDS = ("judging", "systems")
