"""Estimates with 95% intervals, or the reason why there is none; a few items never give certainty."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.scoring.score_intervals import Shape


def as_plain(value: Any) -> Any:
    """Return a record of figures, or a collection of such records, as JSON values; fields keep their names."""
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Mapping):
        return {name: as_plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(one) for one in value]
    return value


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON values."""
    return {field.name: as_plain(getattr(record, field.name)) for field in dataclasses.fields(record)}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of a sample, with its 95% confidence interval.

    Attributes
    ----------
    value
        None if the sample doesn't determine it.
    low, high
        The interval; None if the sample doesn't show the spread.
    reason
        Why the value or its interval is missing, or a caveat.
    size
        The number of items.
    shape
        The basis of the interval, from which :func:`needed` computes that of a larger sample.
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


def proportion(hits: int, items: int, nothing: str = "there is no item") -> Estimate:
    """Return a share of items with Wilson's interval; ``nothing`` is the reason if there are no items."""
    if not items:
        return Estimate(None, reason=nothing)
    shape = Shape(hits / items, items)
    return Estimate(hits / items, *shape.interval(), size=items, shape=shape)


def bounded(
    value: float, variance: float, items: int, base: float = 0.0, reason: str | None = None, freedom: int | None = None
) -> Estimate:
    """Return a figure with Wilson's interval at its effective sample size.

    The figure is treated as a share of agreement between ``base`` (0 on its scale) and 1. Its variance gives the
    number of independent yes-or-no items that it is worth (as for shares of complex surveys: Korn and Graubard 1998;
    Dean and Pagano 2015), and the score interval of such a share is mapped back to the figure's scale. A sample without
    any spread is worth as many items as it has, so that agreement on all of a few items isn't certainty.

    Parameters
    ----------
    variance
        The variance of the figure, by a large-sample formula or a jackknife.
    freedom
        The degrees of freedom of the variance: the fewer, the fewer items the figure is worth.
    """
    shape = Shape.of(value, variance, items, base, freedom)
    low, high = shape.interval()
    return Estimate(value, min(low, value), max(high, value), reason, items, shape)


#: The largest sample that :func:`needed` considers.
MOST = 1_000_000


def needed(estimate: Estimate, width: float) -> int | None:
    """Return how many items in all give an interval of this width if the figure stays the same.

    None if that is unknown, or a million items aren't enough.
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
