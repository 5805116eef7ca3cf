"""Systems under evaluation: loaded by name, run over questions, and their answers kept as records."""

#: The modules that plug-ins may import.
__all__ = ["context", "importing", "run_tasks", "runner", "session"]
