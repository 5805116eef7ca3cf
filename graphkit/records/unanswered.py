"""Reasons why a question has no answer to score: an error, no record, or a record that doesn't log what is needed.

All of them are the system's responsibility. A mean ignores such questions; a gate counts each as the worst value of its
measure (:mod:`graphkit.analysis.gates`).
"""

from __future__ import annotations

from typing import Literal

#: Which questions without a value a gate counts as the worst value: failed, missing and unlogged ones (``worst``), only
#: failed and missing ones (``failed``), or none (``unscored``).
FailedAs = Literal["worst", "failed", "unscored"]

#: The same, or whether every question without a value counts as 0, whatever the reason.
CountedAs = Literal["worst", "failed", "unscored", "zero"]

MISSING = "the run has no record for this question"

#: The beginning of the reason for a record with an error.
FAILED = "failed: "

#: The beginning of the reason for stale gold.
STALE = "invalid, stale gold: "

#: The end of the reason for a record that doesn't log what a measure needs.
NOT_LOGGED = " (not logged)"


def is_stale(reason: str | None) -> bool:
    """Return whether a reason says that the gold of the question is stale.

    >>> is_stale(f"{STALE}a -CALLS-> b: the knowledge graph has no such edge"), is_stale(MISSING), is_stale(None)
    (True, False, False)
    """
    return reason is not None and reason.startswith(STALE)


def failed(error: str) -> str:
    """Return the reason why a record with an error isn't scored."""
    return f"{FAILED}{error}"


def is_failure(reason: str | None) -> bool:
    """Return whether a reason says that the record has an error, or that there is no record.

    >>> is_failure(failed("timeout")), is_failure(MISSING), is_failure("no relevant ids"), is_failure(None)
    (True, True, False, False)
    """
    return reason is not None and (reason == MISSING or reason.startswith(FAILED))


def is_unlogged(reason: str | None) -> bool:
    """Return whether a reason says that the record doesn't log what the measure needs.

    >>> is_unlogged("the record has no traversal (not logged)"), is_unlogged(failed("search (not logged)"))
    (True, False)
    """
    return reason is not None and reason.endswith(NOT_LOGGED) and not is_failure(reason)


def counts_as_worst(reason: str | None, counted_as: CountedAs = "worst") -> bool:
    """Return whether a question without a value for this reason counts as the worst value of the measure.

    >>> [counts_as_worst("no rank (not logged)", how) for how in ("worst", "failed", "unscored")]
    [True, False, False]
    """
    if counted_as == "unscored":
        return False
    return is_failure(reason) or (counted_as != "failed" and is_unlogged(reason))


def counted_value(value: float | str | None, worst: float | None, how: CountedAs = "worst") -> float | None:
    """Return the value with which a question counts in a mean, or None if the mean leaves it out.

    ``value`` is a number, or the reason for none; ``worst`` is the worst value of the measure, None if it has none or
    nothing was scored.

    >>> counted_value(0.5, 0.0), counted_value(MISSING, 0.0), counted_value("no gold", 0.0)
    (0.5, 0.0, None)
    >>> counted_value(MISSING, 0.0, "unscored"), counted_value("no gold", 0.0, "zero")
    (None, 0.0)
    """
    if not isinstance(value, str):
        return value
    if how == "zero" and worst == 0:
        return 0.0
    return worst if counts_as_worst(value, how) else None
