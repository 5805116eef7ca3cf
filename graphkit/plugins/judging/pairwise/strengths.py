"""Strengths of three runs or more by their comparisons: Bradley and Terry's model, with ties and the order of showing.

A run ``i`` has the strength ``t(i)``; the strengths add up to 0. Of two runs ``i`` and ``j``, of which the judge sees
``i`` first, the chances that ``i`` wins, that ``j`` wins, and of a tie are in the proportions

    exp(t(i) + b/2) : exp(t(j) - b/2) : exp((t(i) + t(j))/2 + c)

(Bradley and Terry 1952; ties by Davidson 1970, order by Davidson and Beaver 1977): ``b`` is the advantage of the first
place and ``c`` the readiness for ties. The likelihood has one maximum, which Newton's method finds. Each question
weighs 1 for each pair, however often it was asked.

Where a run wins everything, no finite strength is most likely. So each pair gets one question more, whose verdicts fall
evenly on all outcomes: half a verdict an order, as Jeffreys' prior gives a share. It keeps all strengths finite, and
loses its weight with the number of questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from graphkit.analysis.estimates import Estimate, fields_of
from graphkit.scoring.intervals import FEWEST_EQUAL, SEED
from graphkit.scoring.score_intervals import CONFIDENCE, student_quantile

#: The columns of a question's row for each pair: who is shown first, and the outcome.
ORDERS, OUTCOMES = 2, 3

#: How many samples of questions are drawn.
RESAMPLES = 2_000

#: Newton's method ends after so many steps, or where none is larger than this.
_STEPS, _SMALL = 60, 1e-9

#: The largest step of a parameter: far from the maximum, Newton's own may lead away from it.
_LARGEST = 2.0

SEPARATED = (
    "the verdicts separate the runs: some win every question against the others, so that only the question added to "
    "each pair keeps the strengths finite"
)


@dataclass(frozen=True, slots=True)
class Strengths:
    """The strengths of some runs by one criterion.

    Attributes
    ----------
    runs
        The strength of each run, the strongest first, as a logarithm of odds: where two differ by ``d`` and no tie is
        given, the stronger one wins with odds of ``exp(d)``.
    first
        The advantage of being shown first, on the same scale.
    questions
        How many questions they rest on.
    reason
        Why the strengths are doubtful; None if nothing says so.
    """

    runs: Mapping[str, Estimate]
    first: float
    questions: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return fields_of(self)


def strengths(
    runs: Sequence[str],
    rows: Mapping[str, Mapping[tuple[str, str], Sequence[float]]],
    clusters: Mapping[str, int] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Strengths:
    """Return the strengths of runs, with intervals by a bootstrap over questions, or over clusters of them.

    The intervals are percentiles of the resampled strengths, at levels for as few units as there are (Hesterberg 2015,
    *The American Statistician* 69). Where the verdicts separate the runs, resamples show no spread: the interval is
    then that of the likelihood with each question counted once.

    Parameters
    ----------
    rows
        By question, the weights of its verdicts on each pair ``(a, b)`` in the order of ``runs``: ``a`` shown first and
        winning, losing, drawing, then ``b`` shown first and ``a`` winning, losing, drawing. They add up to 1.
    clusters
        The number of each question's cluster, if questions aren't independent.
    """
    import numpy

    pairs = [*combinations(range(len(runs)), 2)]
    table = _table(runs, pairs, rows)
    whole = table.sum(axis=0)
    ties = bool(whole[..., 2].sum() > 0)
    features = _features(len(runs), pairs, ties)
    units = numpy.arange(len(rows)) if clusters is None else numpy.asarray([clusters[one] for one in rows])
    _, codes = numpy.unique(units, return_inverse=True)
    count = int(codes.max()) + 1 if len(rows) else 0
    [found], information = fitted(whole[None], features)
    basis = _basis(len(runs))
    values = basis @ found[: len(runs) - 1]
    split = separated(len(runs), pairs, whole)
    ends: Any = None
    reason: str | None = None
    if count < FEWEST_EQUAL:
        noun = "questions" if clusters is None else "clusters"
        ends, reason = None, f"too few {noun}"
    elif split:
        covariance = numpy.linalg.inv(information[0])[: len(runs) - 1, : len(runs) - 1]
        reach = student_quantile(count - 1) * numpy.sqrt(numpy.einsum("ij,jk,ik->i", basis, covariance, basis))
        ends, reason = (values - reach, values + reach), SEPARATED
    else:
        sums = numpy.zeros((count, *table.shape[1:]))
        numpy.add.at(sums, codes, table)
        drawn = _drawn(count, resamples, seed)
        samples = numpy.tensordot(drawn, sums, axes=1)
        moved = fitted(samples, features, found)[0][:, : len(runs) - 1] @ basis.T
        ends = numpy.quantile(moved, _levels(count), axis=0)
    order = numpy.argsort(-values, kind="stable")
    estimates = {
        runs[place]: Estimate(
            float(values[place]) + 0.0,
            None if ends is None else float(ends[0][place]),
            None if ends is None else float(ends[1][place]),
            reason,
            len(rows),
        )
        for place in order
    }
    return Strengths(estimates, float(found[len(runs) - 1]), len(rows), reason if split else None)


def fitted(samples: Any, features: Any, begin: Any = None) -> tuple[Any, Any]:
    """Return the parameters that are most likely by each sample, and the information on them there.

    Parameters
    ----------
    samples
        The weights of each sample, by pair, order and outcome.
    features
        What each outcome has of each parameter, as :func:`_features` returns it.
    """
    import numpy

    outcomes, size = features.shape[2], features.shape[3]
    weights = samples[..., :outcomes] + 1 / (ORDERS * outcomes)
    weights = weights.reshape(len(samples), -1, outcomes)
    flat = features.reshape(-1, outcomes, size)
    totals = weights.sum(axis=2)
    found = numpy.zeros((len(samples), size)) + (0.0 if begin is None else begin)
    squares = numpy.einsum("cok,col->cokl", flat, flat)
    for _ in range(_STEPS):
        powers = found @ flat.reshape(-1, size).T
        powers = powers.reshape(len(samples), -1, outcomes)
        chances = numpy.exp(powers - powers.max(axis=2, keepdims=True))
        chances /= chances.sum(axis=2, keepdims=True)
        expected = totals[..., None] * chances
        slope = numpy.tensordot(weights - expected, flat, axes=2)
        means = numpy.einsum("rco,cok->rck", chances, flat)
        information = numpy.tensordot(expected, squares, axes=2)
        information -= numpy.einsum("rc,rck,rcl->rkl", totals, means, means, optimize=True)
        step = numpy.linalg.solve(information, slope[..., None])[..., 0]
        largest = numpy.abs(step).max(axis=1, keepdims=True)
        found = found + step * numpy.minimum(1.0, _LARGEST / numpy.maximum(largest, 1e-300))
        if float(largest.max()) < _SMALL:
            break
    return found, information


def separated(runs: int, pairs: Sequence[tuple[int, int]], whole: Any) -> bool:
    """Return whether some runs never lose or draw against the others, so that no finite strengths are most likely.

    That is so unless wins and ties connect each run with every other one in both directions (Ford 1957).
    """
    import numpy
    from scipy.sparse.csgraph import connected_components

    beats = numpy.zeros((runs, runs))
    for place, (one, two) in enumerate(pairs):
        won, lost, drawn = whole[place].sum(axis=0)
        beats[one, two], beats[two, one] = won + drawn, lost + drawn
    return int(connected_components(beats, directed=True, connection="strong")[0]) > 1


def _table(
    runs: Sequence[str], pairs: Sequence[tuple[int, int]], rows: Mapping[str, Mapping[tuple[str, str], Sequence[float]]]
) -> Any:
    """Return the weights by question, pair, order and outcome; 0 for a pair without a verdict on a question."""
    import numpy

    table = numpy.zeros((len(rows), len(pairs), ORDERS, OUTCOMES))
    for number, some in enumerate(rows.values()):
        for place, (one, two) in enumerate(pairs):
            if (weights := some.get((runs[one], runs[two]))) is not None:
                table[number, place] = numpy.reshape(weights, (ORDERS, OUTCOMES))
    return table


def _basis(runs: int) -> Any:
    """Return the strengths as sums of the parameters, of which the last run's is minus the sum of the others."""
    import numpy

    return numpy.vstack([numpy.eye(runs - 1), -numpy.ones(runs - 1)])


def _features(runs: int, pairs: Sequence[tuple[int, int]], ties: bool) -> Any:
    """Return what each outcome has of each parameter: the strengths, the first place and, if any was given, ties."""
    import numpy

    basis = _basis(runs)
    features = numpy.zeros((len(pairs), ORDERS, 3 if ties else 2, runs + ties))
    for place, (one, two) in enumerate(pairs):
        for order, side in enumerate((0.5, -0.5)):
            features[place, order, 0, : runs - 1], features[place, order, 0, runs - 1] = basis[one], side
            features[place, order, 1, : runs - 1], features[place, order, 1, runs - 1] = basis[two], -side
            if ties:
                features[place, order, 2, : runs - 1] = (basis[one] + basis[two]) / 2
                features[place, order, 2, runs] = 1.0
    return features


def _drawn(units: int, resamples: int, seed: int) -> Any:
    """Return how often each unit is in each resample."""
    import numpy

    random = numpy.random.default_rng(seed)
    return random.multinomial(units, numpy.full(units, 1 / units), size=resamples).astype(float)


def _levels(units: int) -> tuple[float, float]:
    """Return the percentiles of a resampled figure that end its interval, wider for fewer units."""
    from scipy.special import ndtr

    low = float(ndtr(-math.sqrt(units / (units - 1)) * student_quantile(units - 1, CONFIDENCE)))
    return low, 1 - low
