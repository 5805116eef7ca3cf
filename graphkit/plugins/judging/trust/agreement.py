"""Agreement of two raters beyond chance: Cohen's kappa, Gwet's AC1 and AC2, Krippendorff's alpha.

Raw agreement misleads if most items are of one kind: two raters who call nearly everything right agree on most. Each
figure has an interval (:func:`graphkit.plugins.judging.trust.sample_estimates.bounded`), or the reason why there is
none.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal

from graphkit.analysis.estimates import Estimate
from graphkit.plugins.judging.trust.sample_estimates import bounded, proportion
from graphkit.records.words import counted

#: How much two categories agree: only equal ones, or more the closer they are in order.
Weights = Literal["none", "linear", "quadratic"]

#: The distance of two values: equal or not, by rank, or by difference.
Metric = Literal["nominal", "ordinal", "interval"]

NO_ITEM = "no item was graded by both"
ONE_ITEM = "one item doesn't show the spread"

#: With fewer items that are rated differently, an interval may hold the true agreement in less than 93%: see the
#: simulation in docs/statistics.md.
FEW_APART = 6


def raw_agreement(first: Sequence[str], second: Sequence[str]) -> Estimate:
    """Return the share of items to which two raters give the same label, with Wilson's interval."""
    return proportion(sum(map(operator.eq, first, second)), len(first), NO_ITEM)


def kappa(
    first: Sequence[str], second: Sequence[str], categories: Sequence[str], weights: Weights = "none"
) -> Estimate:
    """Return Cohen's kappa (Cohen 1960; weighted 1968): agreement beyond the raters' own habits.

    Its variance is that of Fleiss, Cohen and Everitt (1969).

    Parameters
    ----------
    categories
        All possible labels, in order for weights.
    """
    table, agreeing = _table(first, second, categories), _weights(len(categories), weights)
    items = int(table.sum())
    if not items:
        return Estimate(None, reason=NO_ITEM)
    shares = table / items
    rows, columns = shares.sum(1), shares.sum(0)
    observed, expected = float((agreeing * shares).sum()), float(rows @ agreeing @ columns)
    if 1 - expected < 1e-12:
        reason = f"both gave only {first[0]!r}, so chance alone agrees on everything"
        return Estimate(None, reason=reason, size=items)
    value = (observed - expected) / (1 - expected)
    if items == 1:
        return Estimate(value, reason=ONE_ITEM, size=1)
    # The first-order contribution of each cell of the table to kappa.
    moved = agreeing - (1 - value) * ((agreeing @ columns)[:, None] + (rows @ agreeing)[None, :])
    mean = float((shares * moved).sum())
    variance = float((shares * (moved - mean) ** 2).sum()) / (items * (1 - expected) ** 2)
    return _agreement(value, variance, items, expected, _apart_items(table))


def gwet(first: Sequence[str], second: Sequence[str], categories: Sequence[str], weights: Weights = "none") -> Estimate:
    """Return Gwet's AC1 (Gwet 2008), or AC2 if weighted (Gwet 2014).

    Unlike kappa it stays stable if nearly all items are of one category. Its variance is Gwet's.
    """
    kinds = len(categories)
    table, agreeing = _table(first, second, categories), _weights(kinds, weights)
    items = int(table.sum())
    if not items:
        return Estimate(None, reason=NO_ITEM)
    if kinds < 2:
        return Estimate(None, reason="there is one category only, so nothing can differ", size=items)
    shares = table / items
    used = (shares.sum(1) + shares.sum(0)) / 2
    factor = float(agreeing.sum()) / (kinds * (kinds - 1))
    observed, expected = float((agreeing * shares).sum()), factor * float((used * (1 - used)).sum())
    value = (observed - expected) / (1 - expected)
    if items == 1:
        return Estimate(value, reason=ONE_ITEM, size=1)
    chance = factor * (1 - (used[:, None] + used[None, :]) / 2)  # of an item in each cell
    moved = (agreeing - expected - 2 * (1 - value) * (chance - expected)) / (1 - expected)
    variance = float((shares * (moved - value) ** 2).sum()) / max(items - 1, 1)
    reason = f"both gave only {first[0]!r}" if float(used.max()) > 1 - 1e-12 else None
    return _agreement(value, variance, items, expected, _apart_items(table), reason)


def alpha(ratings: Sequence[Sequence[Any]], metric: Metric = "nominal", order: Sequence[Any] | None = None) -> Estimate:
    """Return Krippendorff's alpha of some items, each with its ratings; None is a missing one.

    There may be any number of raters, each with gaps (Krippendorff 2019, chapter 12). The variance is that of the
    jackknife over the items.

    Parameters
    ----------
    order
        The values in order, for ranks; by default sorted.
    """
    import numpy

    kept = [[value for value in item if value is not None] for item in ratings]
    kept = [item for item in kept if len(item) > 1]
    if not kept:
        return Estimate(None, reason="no item has two grades")
    items = len(kept)
    if len({value for item in kept for value in item}) < 2:
        return Estimate(None, reason=f"only {kept[0][0]!r} was given, so nothing could differ", size=items)
    found = _by_numbers(kept) if metric == "interval" else _by_labels(kept, metric, order)
    value, others, chance = found
    if items == 1:
        return Estimate(value, reason=ONE_ITEM, size=1)
    # Without some items nothing differs and alpha is undefined; the others show the spread.
    defined = others[numpy.isfinite(others)]
    count = int(defined.size)
    variance = (count - 1) / count * float(((defined - defined.mean()) ** 2).sum()) if count else 0.0
    return _agreement(value, variance, items, chance, sum(len({*item}) > 1 for item in kept))


def _by_numbers(kept: Sequence[Sequence[Any]]) -> tuple[float, Any, float]:
    """Return alpha of numbers, alpha without each item, and the agreement by chance.

    Over all pairs of n numbers the squared differences add up to 2n times the sum of squares minus twice the squared
    sum.
    """
    import numpy

    numbers = numpy.array([float(value) for item in kept for value in item])
    given = numpy.array([len(item) for item in kept])
    starts = numpy.concatenate([[0], numpy.cumsum(given)[:-1]])
    centred = numbers - numbers.mean()
    sums, squares = (numpy.add.reduceat(some, starts) for some in (centred, centred**2))
    within = (2 * given * squares - 2 * sums**2) / (given - 1)
    value, expected = _alpha(within.sum(), given.sum(), sums.sum(), squares.sum())
    others, _ = _alpha(within.sum() - within, given.sum() - given, sums.sum() - sums, squares.sum() - squares)
    return float(value), others, 1 - float(expected) / float(numpy.ptp(numbers)) ** 2


def _alpha(within: Any, every: Any, sums: Any, squares: Any) -> tuple[Any, Any]:
    """Return alpha, NaN if nothing could differ, and the expected difference."""
    import numpy

    with numpy.errstate(divide="ignore", invalid="ignore"):
        expected = (2 * every * squares - 2 * sums**2) / (every * (every - 1))
        return numpy.where(expected > 1e-12, 1 - within / every / expected, numpy.nan), expected


def _by_labels(kept: Sequence[Sequence[Any]], metric: Metric, order: Sequence[Any] | None) -> tuple[float, Any, float]:
    """Return alpha of labels, alpha without each item, and the agreement by chance."""
    import numpy

    known = list(dict.fromkeys(order or ())) or sorted({value for item in kept for value in item})
    places = {value: place for place, value in enumerate(known)}
    counts = numpy.zeros((len(kept), len(known)))
    for row, item in zip(counts, kept, strict=True):
        for value in item:
            row[places[value]] += 1
    given, totals = counts.sum(1), counts.sum(0)

    def figures(used: Any, one: int | None) -> tuple[float, float]:
        apart = _apart(used, metric)
        within = ((counts @ apart) * counts).sum(1) / (given - 1)
        observed = float(within.sum()) - (0.0 if one is None else float(within[one]))
        every = float(used.sum())
        expected = float(used @ apart @ used) / (every * (every - 1)) if every > 1 else 0.0
        if expected < 1e-12:
            return math.nan, 1.0
        return 1 - observed / every / expected, 1 - expected / float(apart.max())

    value, chance = figures(totals, None)
    others = numpy.array([figures(totals - counts[one], one)[0] for one in range(len(kept))])
    return value, others, chance


def _apart(totals: Any, metric: Metric) -> Any:
    """Return the squared distances of the labels: equal or not, or by their middle ranks."""
    import numpy

    if metric == "nominal":
        return 1.0 - numpy.eye(len(totals))
    ranks = numpy.cumsum(totals) - totals / 2
    return (ranks[:, None] - ranks[None, :]) ** 2


def _table(first: Sequence[str], second: Sequence[str], categories: Sequence[str]) -> Any:
    """Return the counts of each category of the first rater (rows) and of the second (columns)."""
    import numpy

    places = {name: place for place, name in enumerate(categories)}
    table = numpy.zeros((len(categories), len(categories)))
    for one, two in zip(first, second, strict=True):
        table[places[one], places[two]] += 1
    return table


def _weights(kinds: int, weights: Weights) -> Any:
    """Return the agreement of each pair of categories, from 0 to 1."""
    import numpy

    if weights == "none" or kinds < 2:
        return numpy.eye(kinds)
    steps = numpy.abs(numpy.arange(kinds)[:, None] - numpy.arange(kinds)[None, :]) / (kinds - 1)
    return 1 - (steps if weights == "linear" else steps**2)


def _agreement(
    value: float, variance: float, items: int, expected: float, apart: int, reason: str | None = None
) -> Estimate:
    """Return a coefficient of at least two items with its interval, and a caution if few items are rated differently.

    Half an item on which the raters disagree as far as possible is added to the variance (as Agresti and Min 2005 do
    for differences), since a few dozen items may hold none of the rare, large disagreements.
    """
    base = _base(expected)
    share = min(1.0, max(0.0, value * (1 - base) + base))
    variance += 0.5 * (share / items / (1 - base)) ** 2
    if reason is None and apart < FEW_APART:
        reason = f"the interval may be too narrow: {apart} of {counted(items, 'item')} differ, fewer than {FEW_APART}"
    return bounded(value, variance, items, base, reason, freedom=items - 1)


def _apart_items(table: Any) -> int:
    """Return the number of items to which the raters of a table gave different labels."""
    return int(table.sum() - table.trace())


def _base(expected: float) -> float:
    """Return the agreement by chance, at which a coefficient is 0."""
    return min(1 - 1e-9, max(0.0, expected))
