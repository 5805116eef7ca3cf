"""The content of the graph: queries, loading of datasets, runs and git history, and the failures of a run."""

#: The modules that plug-ins may import.
__all__ = [
    "checked",
    "commit_names",
    "datasets",
    "digests",
    "execution_nodes",
    "failures",
    "finishing",
    "knowledge",
    "known_names",
    "queries",
    "question_ranges",
    "reservations",
    "rows",
    "runs",
    "schema_version",
    "score_nodes",
    "user_queries",
    "verdict_nodes",
    "writing",
]
