"""Published gold, one file per format, and changes of a dataset's gold."""

#: The modules that plug-ins may import.
__all__ = ["renames"]
