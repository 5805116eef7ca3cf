"""Data sets, scores and metrics of RAGAS."""
