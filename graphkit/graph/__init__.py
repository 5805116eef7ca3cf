"""The content of the graph: queries, loading of datasets, runs and git history, and the failures of a run."""

#: The modules that plug-ins may import.
__all__ = [
    "datasets",
    "digests",
    "execution_nodes",
    "failures",
    "known_names",
    "queries",
    "runs",
    "score_nodes",
    "verdict_nodes",
    "writing",
]
