"""The 95% interval of a mean over questions, whose values may be few and skewed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphkit.records.bounds import equal
from graphkit.records.words import counted
from graphkit.scoring.score_intervals import CONFIDENCE, bounded_interval, student_quantile, unseen_share

RESAMPLES = 10_000
SEED = 20_251

#: Fewer equal differences than these don't show a spread: by chance, five have one sign in 1 of 16 comparisons.
FEWEST_EQUAL = 6

#: Of fewer values than these, or of fewer without bounds, an interval of a mean may hold the true one in less than 95%:
#: see the simulation in docs/statistics.md.
FEW_VALUES = 10
FEW_UNBOUNDED = 20

#: Resamples and sign flips are drawn this many values at a time, to keep memory flat.
DRAWN_TOGETHER = 1 << 18

#: Of more values than these, Student's t alone gives the interval that is drawn: the bootstrap agrees with it.
MANY = 1000

ALL_EQUAL = "all values are equal, so nothing shows how far others may lie"


def alike(values: Any) -> bool:
    """Return whether all values are equal up to rounding."""
    return equal(float(values.min()), float(values.max()))


def interval(
    differences: Any,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
    span: float | None = None,
) -> tuple[float | None, float | None]:
    """Return an interval of a mean difference: the wider on each side of the BCa bootstrap and of Student's t.

    It ends at ``span`` on either side of 0, the largest possible difference.

    Each alone is too narrow for some small samples: BCa (Efron 1987) for even ones, Student's t for skewed ones. One
    question, or fewer than six equal differences, have no interval; that of more is :func:`around_equal`.
    """
    import numpy

    values = numpy.asarray(differences, dtype=float)
    if values.size < 2 or alike(values):
        if values.size < FEWEST_EQUAL or span is None:
            return None, None
        return around_equal(math.fsum(values) / values.size, values.size, span, confidence)
    low, high = _resampled(values, resamples, seed, confidence)
    most = math.inf if span is None else span
    return max(-most, low), min(most, high)


def around_equal(value: float, items: float, span: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of a mean of equal differences, of which others may be too rare to have been drawn.

    Around 0 their share is at most :func:`~graphkit.scoring.score_intervals.unseen_share`, so over 3 in the number of
    items, and each may be as large as ``span``, in either direction. Around another value the interval is 3 ``span`` in
    the number of items wide: the sign test, and not the largest differences that nobody saw, decides whether eight
    equal losses are chance.

    >>> [round(end, 3) for end in around_equal(0.0, 30, 1.0)], around_equal(-0.5, 8, 1.0)
    ([-0.116, 0.116], (-0.6875, -0.3125))
    """
    reach = (unseen_share(items, confidence) if equal(value, 0.0) else 1.5 / items) * span
    return max(-span, value - reach), min(span, value + reach)


def _resampled(values: Any, resamples: int, seed: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the wider on each side of BCa and Student's t of values that aren't all equal."""
    import numpy

    size, rng = values.size, numpy.random.default_rng(seed)
    batch = max(1, DRAWN_TOGETHER // size)
    # As scipy.stats.bootstrap draws them, whose package would take longer to import than most runs to score.
    drawn = (rng.integers(size, size=(min(batch, resamples - k), size)) for k in range(0, resamples, batch))
    means = numpy.concatenate([values[one].mean(axis=-1) for one in drawn])
    low, high = bca(values, means, confidence)
    mean = math.fsum(values) / values.size
    reach = student_quantile(values.size - 1, confidence) * float(values.std(ddof=1)) / values.size**0.5
    return float(numpy.fmin(low, mean - reach)), float(numpy.fmax(high, mean + reach))


def bca(values: Any, means: Any, confidence: float) -> list[float]:
    """Return the ends of BCa by the means of resamples; not a number where these show none.

    SciPy leaves each value out in turn to find the acceleration, which takes the square of their number. That of a mean
    follows from the values: it is the sum of their cubed deviations over 6 times that of the squared ones to 3/2.
    """
    import numpy
    from scipy.special import ndtr, ndtri

    mean = values.mean()
    below = ((means < mean).sum() + (means <= mean).sum()) / (2 * means.size)
    deviations = values - mean
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    with numpy.errstate(invalid="ignore"):
        bias = ndtri(below)
        reached = bias + ndtri(numpy.array([1 - confidence, 1 + confidence]) / 2)
        shares = ndtr(bias + reached / (1 - acceleration * reached))
    return [math.nan if math.isnan(one) else float(numpy.percentile(means, 100 * one)) for one in shares]


def mean_interval(
    values: Sequence[float],
    lowest: float | None,
    highest: float | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float] | None:
    """Return an interval of the mean of a measure, within the bounds of its values.

    It is the widest on each side of the BCa bootstrap, of Student's t and, between two bounds, of the score interval at
    the effective number of values (:func:`~graphkit.scoring.score_intervals.bounded_interval`). The first two are too
    narrow near a bound: twelve values of 1 would have the interval from 1 to 1. None for one value, and for equal ones
    of a measure without bounds.
    """
    import numpy

    # Sorted: the resamples, and so the interval, don't depend on the order in which questions were scored.
    table = numpy.sort(numpy.asarray(values, dtype=float))
    if table.size < 2:
        return None
    mean, same = math.fsum(table) / table.size, alike(table)
    variance = 0.0 if same else float(table.var(ddof=1)) / table.size
    found = moment_interval(mean, variance, table.size, lowest, highest)
    if found is None or same or table.size > MANY:
        return found
    ends = _resampled(table, resamples, seed)
    low, high = min(found[0], ends[0]), max(found[1], ends[1])
    return low if lowest is None else max(low, lowest), high if highest is None else min(high, highest)


def moment_interval(
    mean: float, variance: float, items: int, lowest: float | None, highest: float | None
) -> tuple[float, float] | None:
    """Return the interval of a mean by its ``variance`` alone: that of :func:`mean_interval` without the bootstrap.

    None for fewer than two items, and for equal ones of a measure without bounds.
    """
    if items < 2:
        return None
    low = high = mean
    if lowest is not None and highest is not None and lowest < highest:
        low, high = bounded_interval(mean, variance, items, lowest, highest, items - 1)
    elif variance == 0:
        return None
    reach = student_quantile(items - 1) * variance**0.5
    low, high = min(low, mean - reach), max(high, mean + reach)
    return low if lowest is None else max(low, lowest), high if highest is None else min(high, highest)


def mean_caution(values: Sequence[float], lowest: float | None, highest: float | None) -> str | None:
    """Return why :func:`mean_interval` may be too narrow, or rests on equal values, in a sentence; else None."""
    few = FEW_UNBOUNDED if lowest is None or highest is None else FEW_VALUES
    if len(values) < 2:
        return None
    if equal(min(values), max(values)):
        return ALL_EQUAL
    if len(values) < few:
        return f"the interval may be too narrow: {counted(len(values), 'question')}, fewer than {few}"
    return None
