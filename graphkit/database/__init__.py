"""Reaching a database: the store, its settings, values and messages."""

#: The modules that plug-ins may import.
__all__ = [
    "access",
    "dialects",
    "foreign",
    "outside",
    "settings",
    "store",
    "values",
]
