"""P-values of several measures of the same questions, corrected together: measures that move together count less."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from graphkit.analysis.paired import PairedResult, signs_bound
from graphkit.scoring.intervals import DRAWN_TOGETHER, RESAMPLES, SEED


class DifferenceColumn(NamedTuple):
    """The differences of one measure: the number of the question, or of its cluster, of each, and the difference."""

    units: Sequence[int]
    differences: Sequence[float]


def max_t(columns: Sequence[DifferenceColumn], *, resamples: int = RESAMPLES, seed: int = SEED) -> list[float]:
    """Return the p-value of each measure, corrected over all by step-down max-T (Westfall and Young 1993).

    Each question, or cluster, draws one sign for all measures, so that their dependence is kept. A measure's statistic
    is the sum of its differences over the root of the sum of their squares, which signs don't change: Student's t by
    another scale, and the same for a measure that only some questions have. All sign patterns are tried if there are at
    most ``resamples`` of them; else that many are drawn, and the observed pattern counts as one. A measure without a
    difference has the p-value 1 and weighs nothing.

    >>> [round(p, 4) for p in max_t([DifferenceColumn(range(7), [-1.0] * 7), DifferenceColumn(range(7), [-0.5] * 7)])]
    [0.0156, 0.0156]
    """
    import numpy

    table = _by_unit(columns)
    norms = numpy.sqrt((table**2).sum(axis=0))
    differing = norms > 0
    p_values = numpy.ones(len(columns))
    if not differing.any():
        return [float(p) for p in p_values]
    scaled = table[:, differing] / norms[differing]
    observed = numpy.abs(scaled.sum(axis=0))
    order = numpy.argsort(-observed, kind="stable")
    scaled, observed = scaled[:, order], observed[order]
    bound = observed - 1e-12 * numpy.abs(scaled).sum(axis=0)  # a sum that differs by rounding only counts as equal
    units, extreme = len(scaled), numpy.zeros(len(order))
    whole = units < 63 and 2**units <= resamples
    random, left = numpy.random.default_rng(seed), 2**units if whole else resamples
    count, done = max(1, DRAWN_TOGETHER // units), 0
    while done < left:
        rows = min(count, left - done)
        if whole:
            ones = numpy.arange(done, done + rows)[:, None] >> numpy.arange(units) & 1
        else:
            ones = random.integers(0, 2, size=(rows, units), dtype=numpy.int8)
        sums = numpy.abs(2.0 * (ones @ scaled) - scaled.sum(axis=0))
        # From the last to the first: the largest statistic among a measure and those below it.
        largest = numpy.maximum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
        extreme += (largest >= bound).sum(axis=0)
        done += rows
    found = extreme / left if whole else (extreme + 1) / (left + 1)
    p_values[numpy.flatnonzero(differing)[order]] = numpy.maximum.accumulate(found)
    return [float(p) for p in p_values]


def corrected(
    results: Sequence[PairedResult],
    columns: Sequence[DifferenceColumn],
    *,
    family: Collection[str] = (),
    pairs: int = 1,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[PairedResult, ...]:
    """Return the results of one comparison with p-values corrected over its measures, whose differences are given.

    Parameters
    ----------
    family
        Measures that are corrected over each other alone; the others are over all.
    pairs
        Of how many pairs of runs this is one. Each p-value is multiplied by it (Bonferroni), so that a pair has the
        same figures whichever others are computed. Drawn signs give no p-value below 1 / (resamples + 1), which so many
        comparisons would raise above any level: :func:`~graphkit.analysis.paired.signs_bound` replaces it where that is
        smaller, also before the correction.
    resamples
        With 0 nothing is drawn, and the p-values of the results are corrected by :func:`holm`.
    """
    p_values = _together(results, columns, pairs, resamples, seed)
    own = [place for place, one in enumerate(results) if one.measure in family]
    if own and len(own) < len(results):
        some = _together([results[one] for one in own], [columns[one] for one in own], pairs, resamples, seed)
        for place, p_value in zip(own, some, strict=True):
            p_values[place] = p_value
    own_p = [min(one.p_value, _bound(one)) if resamples and pairs > 1 else one.p_value for one in results]
    return tuple(
        dataclasses.replace(one, p_value=own, p_corrected=min(1.0, p_value * pairs))
        for one, own, p_value in zip(results, own_p, p_values, strict=True)
    )


def _together(
    results: Sequence[PairedResult], columns: Sequence[DifferenceColumn], pairs: int, resamples: int, seed: int
) -> list[float]:
    if not resamples:
        return holm([one.p_value for one in results])
    drawn = max_t(columns, resamples=resamples, seed=seed)
    found = [max(one.p_value, p_value) for one, p_value in zip(results, drawn, strict=True)]
    if pairs == 1:
        return found
    bounds = holm([_bound(one) for one in results])
    return [min(p_value, bound) for p_value, bound in zip(found, bounds, strict=True)]


def _bound(result: PairedResult) -> float:
    """Return the bound of a p-value over questions; 1 over clusters."""
    count = result.questions
    squares = (count - 1) * result.spread**2 + count * result.delta**2
    return 1.0 if result.clusters is not None else signs_bound(count * result.delta, squares)


def _by_unit(columns: Sequence[DifferenceColumn]) -> Any:
    """Return the sum of each measure's differences in each unit that has any other than 0, a column a measure."""
    import numpy

    size = 1 + max((max(one.units, default=-1) for one in columns), default=-1)
    table = numpy.zeros((size, len(columns)))
    for place, (units, differences) in enumerate(columns):
        if len(units):
            table[:, place] = numpy.bincount(numpy.asarray(units), weights=differences, minlength=size)
    return table[(table != 0).any(axis=1)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's step-down correction (Holm 1979), in the order given.

    It is for p-values whose dependence isn't known; :func:`max_t` rejects at least about as much.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
