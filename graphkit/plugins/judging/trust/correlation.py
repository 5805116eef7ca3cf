"""Correlation of two raters' numbers: Pearson's and Spearman's.

It shows whether two raters order the items alike, not whether they agree: a judge that gives half of each grade has a
correlation of 1. :mod:`graphkit.plugins.judging.trust.agreement` has the figures of agreement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphkit.analysis.estimates import Estimate
from graphkit.plugins.judging.trust.agreement import NO_ITEM
from graphkit.plugins.judging.trust.sample_estimates import bounded

#: The jackknife leaves out one of so many groups of items at a time; up to this number, one item.
GROUPS = 200

ONE_APART = "a rater gave one number to all but a few items, so the spread is unknown"


def pearson(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Return Pearson's correlation of two raters' numbers, item by item.

    It is unknown if a rater gave one number only. The variance is that of the jackknife over the items.
    """
    return _correlation(first, second, ranks=False)


def spearman(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Return Spearman's rank correlation: Pearson's of the ranks, where equal numbers share their middle rank.

    It is unknown if a rater gave one number only. The variance is that of the jackknife over the items.
    """
    return _correlation(first, second, ranks=True)


def _correlation(first: Sequence[float], second: Sequence[float], *, ranks: bool) -> Estimate:
    import numpy
    from scipy import stats

    items = len(first)
    if not items:
        return Estimate(None, reason=NO_ITEM)
    for given in (first, second):
        if min(given) == max(given):
            reason = f"a rater gave only {given[0]:g}, and what doesn't vary has no correlation"
            return Estimate(None, reason=reason, size=items)
    pair = [numpy.asarray(given, dtype=float) for given in (first, second)]
    rated = stats.rankdata if ranks else numpy.asarray
    value = _of(*map(rated, pair))
    groups = numpy.array_split(numpy.arange(items), min(items, GROUPS))
    others = numpy.array([_of(*(rated(numpy.delete(given, group)) for given in pair)) for group in groups])
    if not numpy.isfinite(others).all():
        return Estimate(value, reason=ONE_APART, size=items)
    variance = (len(groups) - 1) / len(groups) * float(((others - others.mean()) ** 2).sum())
    # On the scale of a share from 0 to 1, no correlation lies in the middle.
    return bounded(value, variance, items, base=0.5, freedom=len(groups) - 1)


def _of(first: Any, second: Any) -> float:
    """Return Pearson's correlation of two arrays; NaN if one is constant."""
    import numpy

    if numpy.ptp(first) == 0 or numpy.ptp(second) == 0:
        return math.nan
    return float(numpy.corrcoef(first, second)[0, 1])
