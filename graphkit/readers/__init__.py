"""The formats of other tools' logs, one file per format: the content of a log in its own names."""
