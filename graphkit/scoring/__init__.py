"""Records to scores: from files, in the graph, in batches; results, and the files they are written to."""

#: The modules that plug-ins may import.
__all__ = [
    "evaluate",
    "export",
    "intervals",
    "junit",
    "measure_summaries",
    "options",
    "read_runs",
    "relation_counts",
    "results",
    "results_folder",
    "score_intervals",
]
