"""Systems under evaluation: loaded by name, run over the questions, and their answers kept as runs."""

#: The section of `graphkit --help` in which its command stands.
SECTION = "start"
#: It stands there before those of other plug-ins.
FIRST = True
