"""Imports logs and graphs of other programs as records of a dataset."""

#: The modules that plug-ins may import.
__all__ = [
    "graph_importer",
    "importer",
    "mappings",
    "names",
    "recorder",
    "repository_sources",
    "sources",
]
