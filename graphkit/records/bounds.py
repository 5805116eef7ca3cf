"""How numbers are compared: what differs by no more than rounding is equal, and neither under a bound nor over it.

Gates, targets, severe thresholds, the rules of the diagnosis and the wins and losses of a comparison all ask here.
"""

from __future__ import annotations

import math

#: Numbers this close, relative to the larger one or to 1, are equal: both engines are held equal to the same.
TOLERANCE = 1e-9


def equal(first: float, second: float) -> bool:
    """Tell whether two numbers differ by no more than ``TOLERANCE``.

    >>> equal(0.1 + 0.2, 0.3), equal(0.3, 0.3001)
    (True, False)
    """
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def under(value: float, bound: float) -> bool:
    """Tell whether a value is lower than a bound, and not equal to it."""
    return value < bound and not equal(value, bound)


def over(value: float, bound: float) -> bool:
    """Tell whether a value is higher than a bound, and not equal to it."""
    return value > bound and not equal(value, bound)


def exact_parts(values: list[float]) -> list[float]:
    """Return the fewest numbers that add up to exactly what the values do, largest first.

    ``math.fsum`` of them is the sum of the values, rounded once. Parts of parts are put together in the same way, so
    that the sum doesn't depend on how the values were cut into batches, or in which order they came.

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
