"""Reaching a database: the store, its settings, values and messages, and the embedded server."""

#: The modules that plug-ins may import.
__all__ = ["embedded", "settings", "store"]
