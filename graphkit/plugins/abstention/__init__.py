"""Abstention: whether a run declines where there is no answer, and how often it is wrong where it answers."""

#: The section of `graphkit --help` in which its command stands.
SECTION = "score"
