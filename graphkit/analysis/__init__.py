"""Scores to judgement: layers, gates, comparison, paired statistics, summaries, dataset checks."""

#: The modules that plug-ins may import.
__all__ = [
    "compare_runs",
    "comparison_plan",
    "config",
    "estimates",
    "evaluation_plan",
    "explain",
    "explanations",
    "file_failures",
    "findings",
    "gate_outcomes",
    "gates",
    "gold_names",
    "judge_cost",
    "layers",
    "mending",
    "own_family",
    "pair_verdict",
    "paired",
    "recorded_renames",
    "run_comparisons",
    "run_gates",
    "scales",
    "spot_check_files",
    "story",
]
