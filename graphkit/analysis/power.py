"""The power of a paired test: what a sample can detect, and what size it needs.

Numbers have that of the paired t-test, by the noncentral t distribution, and yes-or-no values the exact one of
McNemar's test, which is smaller: so few differences are possible that its p-value rarely is just below the level.
"""

from __future__ import annotations

import math
from functools import lru_cache

from graphkit.scoring.score_intervals import wilson_interval

POWER = 0.8
LEVEL = 0.05

#: Of more questions than these, the t-test has the power of McNemar's.
MOST_EXACT = 5_000

#: Plans take the upper end of an interval of this confidence for the share of questions that differ: four of five
#: samples lead to a plan that is large enough (as Browne 1995 recommends for standard deviations).
PLANNED_CONFIDENCE = 0.6


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


def mcnemar_power(difference: float, differing: float, questions: int, level: float = LEVEL) -> float:
    """Return the chance that McNemar's exact test finds a difference of two shares of right answers.

    It is the paired randomisation test of yes-or-no values. Of the questions that differ, ``(1 + difference /
    differing) / 2`` are won on average; their number is binomial, too (Duffy 1984).

    Parameters
    ----------
    differing
        The share of questions on which the runs differ, at least the difference.

    >>> round(mcnemar_power(1.0, 1.0, 6), 3), mcnemar_power(1.0, 1.0, 5)
    (1.0, 0.0)
    """
    import numpy
    from scipy import stats

    middle, reach = questions * differing, 9 * (questions * differing * (1 - differing)) ** 0.5 + 1
    many = numpy.arange(max(0, math.floor(middle - reach)), min(questions, math.ceil(middle + reach)) + 1)
    won = (1 + difference / differing) / 2
    # The fewest wins, or losses, whose two-sided p-value is at most the level.
    fewest = stats.binom.isf(level / 2, many, 0.5) + 1
    found = stats.binom.sf(fewest - 1, many, won) + stats.binom.cdf(many - fewest, many, won)
    return float((stats.binom.pmf(many, questions, differing) * numpy.where(fewest <= many, found, 0.0)).sum())


def differing_bound(different: int, questions: int) -> float:
    """Return the share of questions that differ for which to plan, given how many of the present ones do."""
    return wilson_interval(different / questions, questions, PLANNED_CONFIDENCE)[1]


@lru_cache(maxsize=4096)
def detectable_share(different: int, questions: int) -> float | None:
    """Return the smallest difference of two shares that McNemar's test of so many questions finds with 80% power.

    None if nothing is large enough. Of the questions, ``different`` differ now.
    """
    from scipy import optimize

    if share_power(1.0, 1.0, questions, LEVEL) < POWER:
        return None
    bound = differing_bound(different, questions)
    return float(optimize.brentq(lambda some: share_power(some, bound, questions, LEVEL) - POWER, 1e-9, 1.0))


def share_power(difference: float, differing: float, questions: int, level: float) -> float:
    """Return the power at a difference, to which at least as many questions contribute."""
    differing = max(differing, difference)
    if questions <= MOST_EXACT:
        return mcnemar_power(difference, differing, questions, level)
    return power(difference, max(differing - difference**2, 1e-12) ** 0.5 / questions**0.5, questions, level)
