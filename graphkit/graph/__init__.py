"""The content of the graph: queries, loading of datasets, runs and git history, and the failures of a run."""
