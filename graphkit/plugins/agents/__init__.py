"""Evaluation inside a coding agent: tools and resources of the Model Context Protocol."""

#: The plug-ins that it imports.
NEEDS = ("compare",)
