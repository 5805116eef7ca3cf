"""The whole job of a CI: baselines, comparison with one, all gates, comments, and results and comparisons as JUnit."""

#: The plug-ins that it imports.
NEEDS = ("compare",)
