"""The 95% interval of a mean over questions, whose values may be few and skewed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphkit.records.bounds import equal

RESAMPLES = 10_000
SEED = 20_251
CONFIDENCE = 0.95

#: Fewer equal differences than these don't show a spread: by chance, five have one sign in 1 of 16 comparisons.
FEWEST_EQUAL = 6

#: Resamples and sign flips are drawn this many values at a time, to keep memory flat.
DRAWN_TOGETHER = 1 << 18

#: Of more values than these, Student's t alone gives the interval that is drawn: the bootstrap agrees with it.
MANY = 1000


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
    """Return an interval of a mean: the wider on each side of the BCa bootstrap (Efron 1987) and of Student's t.

    It ends at ``span`` on either side of 0, the largest possible difference.

    Each alone is too narrow for some small samples: BCa for even ones, Student's t for skewed ones. The interval of
    equal differences is their value; one question, or fewer than six equal differences, have none.
    """
    import numpy
    from scipy import stats

    values = numpy.asarray(differences, dtype=float)
    mean = math.fsum(values) / max(values.size, 1)
    if values.size < 2 or alike(values):
        return (mean, mean) if values.size >= FEWEST_EQUAL else (None, None)
    found = stats.bootstrap(
        (values,),
        numpy.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(1, DRAWN_TOGETHER // values.size),
        method="BCa",
        rng=numpy.random.default_rng(seed),
    )
    reach = stats.t.ppf((1 + confidence) / 2, values.size - 1) * values.std(ddof=1) / values.size**0.5
    bounds = found.confidence_interval
    most = math.inf if span is None else span
    return max(-most, float(min(bounds.low, mean - reach))), min(most, float(max(bounds.high, mean + reach)))


def mean_interval(
    values: Sequence[float], lowest: float | None, highest: float | None, *, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """Return an interval of the mean of a measure, within the bounds of its values; None if the values are too few."""
    if len(values) > MANY:
        import numpy
        from scipy import stats

        # numpy, since scipy's tstd warns of values that are nearly alike.
        mean, spread = math.fsum(values) / len(values), float(numpy.std(values, ddof=1))
        reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * spread / len(values) ** 0.5
        low, high = mean - reach, mean + reach
    else:
        found = interval(values, resamples=resamples)
        if found[0] is None or found[1] is None:
            return None
        low, high = found[0], found[1]
    return low if lowest is None else max(low, lowest), high if highest is None else min(high, highest)
