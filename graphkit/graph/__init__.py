"""The content of the graph: queries, loading of datasets, runs and git history, failures, what lies beside a run."""

#: The modules that plug-ins may import.
__all__ = [
    "answered",
    "beside",
    "checked",
    "commit_names",
    "datasets",
    "digests",
    "failures",
    "finishing",
    "given_parts",
    "knowledge",
    "known_names",
    "queries",
    "question_ranges",
    "reservations",
    "right_answers",
    "rows",
    "runs",
    "schema_version",
    "score_nodes",
    "user_queries",
    "writing",
]
