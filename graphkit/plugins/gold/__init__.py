"""Gold of others, one file a format, and changes of a dataset's gold: proposals, decisions, migration."""

#: The plug-ins that it imports.
NEEDS = ("compare", "graphs", "logs", "mapping")
