"""graphkit inside pytest: a test for each question of a dataset, and one for each threshold."""

#: The plug-ins that it imports.
NEEDS = ("judging", "systems")
