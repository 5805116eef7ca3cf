"""Comparisons of numbers that treat rounding errors as equal."""

from __future__ import annotations

import math

#: Numbers this close are equal, relative to the larger one or to 1. The tests compare both engines with it too.
TOLERANCE = 1e-9


def equal(first: float, second: float) -> bool:
    """Return whether two numbers differ by at most ``TOLERANCE``.

    >>> equal(0.1 + 0.2, 0.3), equal(0.3, 0.3001)
    (True, False)
    """
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def under(value: float, bound: float) -> bool:
    """Return whether a value is lower than a bound and not equal to it."""
    return value < bound and not equal(value, bound)


def over(value: float, bound: float) -> bool:
    """Return whether a value is higher than a bound and not equal to it."""
    return value > bound and not equal(value, bound)


def exact_parts(values: list[float]) -> list[float]:
    """Return the fewest numbers with exactly the same sum as the values, largest first.

    ``math.fsum`` of them is the sum of the values, rounded once. Parts of parts can be summed in the same way, so the
    sum doesn't depend on the order of the values or on batches.

    >>> exact_parts([0.5, 0.25]), exact_parts([1.0, 1e-20, 1.0]), exact_parts([])
    ([0.75], [2.0, 1e-20], [])
    """
    left, parts = [*values], []
    while part := math.fsum(left):
        parts.append(part)
        if not math.isfinite(part):
            break
        left.append(-part)
    return parts
