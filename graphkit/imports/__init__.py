"""Imports logs and graphs of other programs as records of a dataset."""

#: The modules that plug-ins may import.
__all__ = [
    "bounded_jmespath",
    "field_maps",
    "graph_importer",
    "importer",
    "log_rows",
    "mapped_records",
    "names",
    "recorder",
    "repository_sources",
    "sources",
]
