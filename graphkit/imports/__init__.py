"""Imports logs of other programs as records of a dataset."""

#: The modules that plug-ins may import.
__all__ = [
    "import_report",
    "importer",
    "mappings",
    "names",
    "recorder",
    "sources",
]
