"""Traces of a running system, received on this machine, become a run."""

#: The plug-ins that it imports.
NEEDS = ("logs",)

#: The section of `graphkit --help` in which its command stands.
SECTION = "start"
