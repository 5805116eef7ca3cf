"""The plug-ins, a folder each."""
