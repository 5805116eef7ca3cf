"""Measures: pure functions of one question's records. See ``graphkit.measures.registry`` for the list."""

#: The modules that plug-ins may import.
__all__ = [
    "answer_matching",
    "base",
    "case",
    "completeness",
    "containment",
    "crossings",
    "declining",
    "integration",
    "judged",
    "matching",
    "missed",
    "outcome",
    "owners",
    "registry",
    "seeds",
    "seen",
    "sided_case",
    "text",
    "unscored",
]
