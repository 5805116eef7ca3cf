"""The formats of other tools' logs, one file a format: the content of a log in its own names."""
