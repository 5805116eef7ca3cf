"""Estimates of samples with Wilson's intervals, and the sample that a narrower one needs."""

from __future__ import annotations

from graphkit.analysis.estimates import Estimate
from graphkit.scoring.score_intervals import Shape


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
