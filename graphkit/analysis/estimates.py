"""Estimates with their intervals: a value or the reason why there is none, and no certainty from a few items."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of a sample, with the interval in which that of all the rest is expected.

    Attributes
    ----------
    value
        None where the sample says nothing of it.
    low, high
        The 95% confidence interval; None where the sample says nothing of the spread.
    reason
        Why the value or its interval is missing, or what to bear in mind; None where there is nothing to say.
    size
        How many items it rests on.
    shape
        What the interval is computed from, so that :func:`needed` can tell that of a larger sample.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    size: int = 0
    shape: Shape | None = dataclasses.field(default=None, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return the figures and the reason."""
        return {"value": self.value, "low": self.low, "high": self.high, "reason": self.reason, "n": self.size}

    def __str__(self) -> str:
        if self.value is None:
            return f"– ({self.reason})"
        if self.low is None or self.high is None:
            return f"{rounded(self.value)} (no interval: {self.reason})"
        return f"{rounded(self.value)} [{rounded(self.low)}, {rounded(self.high)}]"


def rounded(value: float) -> str:
    """Return a value with three decimals, and 0 without a sign.

    >>> rounded(-0.0001), rounded(2 / 3)
    ('0.000', '0.667')
    """
    return f"{round(value, 3) + 0.0:.3f}"


@dataclass(frozen=True, slots=True)
class Shape:
    """What an interval is made of: a share, how many independent items it is worth, and how it becomes the figure.

    The figure is ``(share - base) / (1 - base)``: of a plain share the base is 0, of a coefficient that is corrected
    for chance it is the share that chance gives.
    """

    share: float
    effective: float
    base: float = 0.0

    def interval(self, times: float = 1.0) -> tuple[float, float]:
        """Return the interval of the figure, were the sample so many times as large."""
        low, high = wilson_interval(self.share, self.effective * times)
        return (low - self.base) / (1 - self.base), (high - self.base) / (1 - self.base)


@lru_cache(maxsize=8)
def normal_quantile(confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors an interval reaches to each side.

    >>> round(normal_quantile(), 4)
    1.96
    """
    from scipy import stats

    return float(stats.norm.ppf((1 + confidence) / 2))


@lru_cache(maxsize=1024)
def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors an interval reaches where these are estimated, too."""
    from scipy import stats

    return float(stats.t.ppf((1 + confidence) / 2, freedom))


def wilson_interval(share: float, items: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927); ``items`` need not be whole.

    >>> [round(bound, 4) for bound in wilson_interval(1.0, 15)]
    [0.7961, 1.0]
    """
    z = normal_quantile(confidence)
    share = min(1.0, max(0.0, share))
    middle = (share + z * z / (2 * items)) / (1 + z * z / items)
    reach = z * math.sqrt(share * (1 - share) / items + z * z / (4 * items * items)) / (1 + z * z / items)
    low = 0.0 if share == 0 else max(0.0, middle - reach)
    high = 1.0 if share == 1 else min(1.0, middle + reach)
    return low, high


def proportion(hits: int, items: int, nothing: str = "there is no item") -> Estimate:
    """Return a share of items with Wilson's interval; ``nothing`` says why there is none where there are no items."""
    if not items:
        return Estimate(None, reason=nothing)
    shape = Shape(hits / items, items)
    return Estimate(hits / items, *shape.interval(), size=items, shape=shape)


def bounded(
    value: float,
    variance: float,
    items: int,
    base: float = 0.0,
    reason: str | None = None,
    freedom: int | None = None,
) -> Estimate:
    """Return a figure with Wilson's interval at its effective sample size.

    The figure is seen as a share of agreement between ``base`` (0 on its scale) and 1. Its variance says how many
    independent yes-or-no items it is worth (as for shares of complex surveys: Korn and Graubard 1998; Dean and Pagano
    2015), and the score interval of such a share is taken back to the figure's scale. Where the sample shows no spread
    at all it is worth as many as it has, so that agreement on all of a few items isn't taken for certainty.

    Parameters
    ----------
    variance
        Of the figure, as estimated by a large-sample formula or a jackknife.
    freedom
        The degrees of freedom of that estimate: the fewer, the fewer items the figure is worth.
    """
    share = min(1.0, max(0.0, value * (1 - base) + base))
    spread = variance * (1 - base) ** 2
    inner = share * (1 - share)
    # Of a share at its end, or without any spread, the items are all that is known.
    effective = inner / spread if inner > 1e-12 and spread > 1e-12 else float(items)
    if freedom is not None:
        effective *= (normal_quantile() / student_quantile(freedom)) ** 2
    shape = Shape(share, effective, base)
    low, high = shape.interval()
    return Estimate(value, min(low, value), max(high, value), reason, items, shape)


#: More items than these are not counted on.
MOST = 1_000_000


def needed(estimate: Estimate, width: float) -> int | None:
    """Return how many items an interval of this width takes in all, were the figure to stay as it is.

    None where that can't be told, or a million items wouldn't do.
    """
    shape, size = estimate.shape, estimate.size
    if shape is None or not size:
        return None

    def narrow(items: int) -> bool:
        low, high = shape.interval(items / size)
        return high - low <= width

    if not narrow(MOST):
        return None
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(middle) else (middle, high)
    return high
