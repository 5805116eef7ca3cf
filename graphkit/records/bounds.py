"""Comparisons of numbers that treat rounding errors as equal, and of qualities with their prices."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: Numbers this close are equal, relative to the larger one or to 1. The tests compare both engines with it too.
TOLERANCE = 1e-9

#: A quality, of which more is better, and a price, of which less is.
Place = tuple[float, float]


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


def beaten(own: Place, others: Iterable[Place]) -> bool:
    """Return whether another one has at least this quality for at most this price, and is better in one of both.

    >>> beaten((0.5, 10), [(0.5, 9)]), beaten((0.5, 10), [(0.6, 11)]), beaten((0.5, 10), [(0.5, 10)])
    (True, False, False)
    """
    return any(one[0] >= own[0] and one[1] <= own[1] and one != own for one in others)


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
