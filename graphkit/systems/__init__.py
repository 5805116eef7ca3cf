"""Systems under evaluation: loaded by name, run over questions, and their answers kept as records."""
