"""Records to scores: from files, in the graph, in batches; results, and the files they are written to."""

#: The modules that plug-ins may import.
__all__ = [
    "chosen_questions",
    "clustered_intervals",
    "cypher_scoring",
    "evaluate",
    "export",
    "further_measures",
    "intervals",
    "measure_summaries",
    "measured",
    "options",
    "question_clusters",
    "reason_counts",
    "relation_counts",
    "repeated_systems",
    "results",
    "results_folder",
    "run_pass",
    "score_intervals",
    "slices",
]
