"""Graphs of others, in a database or in files, become the knowledge graph of a dataset."""

#: The section of `graphkit --help` in which its command stands.
SECTION = "start"
#: It stands before those of other plug-ins.
FIRST = True
