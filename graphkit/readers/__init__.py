"""The protocol of readers of logs, and the reader of own records; the other formats are in the plug-in logs."""

#: The modules that plug-ins may import.
__all__ = ["accounting", "graph_names", "json_values", "logged", "own_records"]
