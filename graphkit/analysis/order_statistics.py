"""Quantiles of a few values, with intervals from the order of the values alone, whatever their distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graphkit.analysis.findings import digits
from graphkit.scoring.score_intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile by nearest rank, with the values between which the true one lies with 95% confidence.

    ``low`` or ``high`` is None if the values are too few to bound it on that side.
    """

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return f"{digits(self.value)} [{digits(self.low)}, {digits(self.high)}]"


def quantile(values: Sequence[float], share: float, independent: bool = True) -> Quantile:
    """Return a quantile of at least one value.

    The interval ends at two of the values in order: as many lie below the true quantile as a binomial distribution says
    (David and Nagaraja 2003, *Order Statistics*, 7.1). Values that aren't ``independent`` have none.

    >>> quantile(range(1, 11), 0.5)
    Quantile(value=5, low=2, high=9)
    """
    from scipy import stats

    ordered, size = sorted(values), len(values)
    value = ordered[max(0, math.ceil(share * size - 1e-9) - 1)]
    if not independent:
        return Quantile(value)
    tail = (1 - CONFIDENCE) / 2
    first, last = (int(stats.binom.ppf(one, size, share)) for one in (tail, 1 - tail))
    return Quantile(value, ordered[first - 1] if first else None, ordered[last] if last < size else None)
