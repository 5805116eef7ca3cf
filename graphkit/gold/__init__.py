"""Published gold, one file per format, and changes of a dataset's gold."""
