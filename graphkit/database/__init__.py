"""Reaching a database: the store, its settings, values and messages, and the embedded server."""
