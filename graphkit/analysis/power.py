"""The power of a paired t-test, by the noncentral t distribution: what a sample can detect, and what size it needs."""

from __future__ import annotations

import math

POWER = 0.8
LEVEL = 0.05

#: More units than these aren't searched for.
MOST = 10**12


def power(difference: float, error: float, units: int, level: float = LEVEL) -> float:
    """Return the chance that a two-sided paired t-test finds a mean difference.

    Parameters
    ----------
    error
        The standard error of the mean difference.
    units
        The number of independent questions or clusters, at least two.
    """
    from scipy import stats

    freedom, shift = units - 1, difference / error
    bound = float(stats.t.ppf(1 - level / 2, freedom))
    found = float(stats.nct.sf(bound, freedom, shift) + stats.nct.cdf(-bound, freedom, shift))
    return 1.0 if math.isnan(found) else found  # far from 0 scipy gives up


def detectable(error: float, units: int) -> float | None:
    """Return the smallest mean difference that a paired t-test finds with 80% power at 5%.

    None for one question or cluster, and if all differences are equal; parameters as in :func:`power`.
    """
    from scipy import optimize, stats

    if units < 2 or not error:
        return None
    freedom = units - 1
    about = float(stats.t.ppf(1 - LEVEL / 2, freedom) + stats.t.ppf(POWER, freedom))
    found = optimize.brentq(lambda shift: power(shift, 1.0, units) - POWER, 0.0, 2 * about)
    return float(found) * error


def units_needed(difference: float, spread: float, level: float = LEVEL) -> int | None:
    """Return how many independent units a difference needs; None if more than can be searched.

    Parameters
    ----------
    spread
        The standard deviation of the differences of one unit, so the standard error times the root of their number.

    >>> units_needed(0.5, 1.0)  # the textbook's 34 pairs of a medium effect
    34
    """

    def enough(units: int) -> bool:
        return power(difference, spread / units**0.5, units, level) >= POWER

    few = 1
    while not enough(many := 2 * few):
        few = many
        if many > MOST:
            return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many
