"""Scores to judgement: causes, layers, gates, statistics of runs and of pairs of them, standings."""

#: The modules that plug-ins may import.
__all__ = [
    "config",
    "estimates",
    "evaluation_findings",
    "evaluation_plan",
    "explain",
    "explanations",
    "file_failures",
    "findings",
    "gate_outcomes",
    "gates",
    "layers",
    "mending",
    "multiple_testing",
    "pair_verdict",
    "paired",
    "power",
    "run_differences",
    "run_gates",
    "scales",
    "standings",
]
