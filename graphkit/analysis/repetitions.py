"""Repetitions of one system: the mean over all of them, and the variance within and between questions.

The model is a one-way layout with random effects: question ``q`` has the mean ``m(q)`` and the sample variance
``v(q)`` over its ``R`` repetitions. The variance within questions is the mean of ``v``, and the variance between
questions that of ``m`` less a share ``1/R`` of it (Searle, Casella and McCulloch 1992, *Variance Components*).
Questions (or their clusters) are independent, repetitions of one question are not: intervals resample questions, with
all of their repetitions.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphkit.analysis.estimates import Estimate, fields_of
from graphkit.analysis.findings import BriefLine
from graphkit.measures.registry import bounds_of
from graphkit.records.repetition_names import repetitions_by_name
from graphkit.records.words import counted, two
from graphkit.scoring.clustered_intervals import ClusterSums, clustered_mean_interval, without_interval
from graphkit.scoring.intervals import FEWEST_EQUAL, RESAMPLES, SEED, mean_interval
from graphkit.scoring.repeated_systems import Passing, all_pass, any_passes
from graphkit.scoring.results import Evaluation
from graphkit.scoring.score_intervals import unseen_share

#: The largest k of pass^k and pass@k.
MOST_K = 10

_FEW = "too few questions for an interval"


@dataclass(frozen=True, slots=True)
class PassRates:
    """The chance that all of k trials of a question pass (pass^k), and that any does (pass@k), over the questions."""

    k: int
    all: Estimate
    any: Estimate


@dataclass(frozen=True, slots=True)
class Repetitions:
    """One measure over the repetitions of a system.

    Attributes
    ----------
    system, runs
        The name of the system, and the runs that repeat it.
    measure
        The measure, whose values count failures as the evaluation does.
    questions, left_out
        The number of questions with a value in every repetition, and of those with a value in only some.
    unstable
        The number of questions whose repetitions differ.
    mean
        The mean over questions and repetitions.
    between, within
        The variance between questions (at least 0), and within questions, so among the repetitions of one.
    passes, passing
        Of a measure with a threshold, pass^k and pass@k for each k up to ``MOST_K``, and what passes.
    """

    system: str
    runs: tuple[str, ...]
    measure: str
    questions: int
    left_out: int
    unstable: int
    mean: Estimate
    between: Estimate
    within: Estimate
    passes: tuple[PassRates, ...] = ()
    passing: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return fields_of(self) | {"passes": [fields_of(one) for one in self.passes]}


def repetitions(results: Sequence[Evaluation], passing: Passing | None = None) -> list[Repetitions]:
    """Return the figures of each system that several results repeat, by their names (``NAME@1``, ``NAME@2``, ...).

    ``passing`` says what passes; by default it is what is better than the target of a measure.

    Only measures by which each repetition was scored are there, and only results that hold rows and have the same gold.
    """
    by_run = {result.run: result for result in results}
    found = []
    for system, runs in repetitions_by_name(by_run).items():
        repeated = [by_run[run] for run in runs]
        if all(one.rows for one in repeated) and len({one.gold_hash for one in repeated}) == 1:
            shared = [name for name in repeated[0].measures if all(name in one.measures for one in repeated)]
            found += [_of_measure(system, name, repeated, passing or Passing()) for name in shared]
    return found


def repetition_findings(found: Sequence[Repetitions]) -> Iterator[BriefLine]:
    """Yield a line a system on its first measure with a value."""
    first: dict[str, Repetitions] = {}
    for one in found:
        if one.mean.value is not None:
            first.setdefault(one.system, one)
    for one in first.values():
        apart = f"{one.unstable} of {counted(one.questions, 'question')} differ between repetitions"
        variances = f"variance {_with_interval(one.between)} between questions, {_with_interval(one.within)} within"
        times = counted(len(one.runs), "repetition")
        if one.passes:
            last = one.passes[-1]
            apart += f"; pass^{last.k} {two(last.all.value)}, pass@{last.k} {two(last.any.value)}"
        yield BriefLine("repeat", f"{one.system}: {one.measure} over {times}: {variances}; {apart}", 72)


def in_words(one: Repetitions) -> str:
    """Return the mean of a system over its repetitions, with its interval."""
    return f"{one.system}, {counted(len(one.runs), 'repetition')}: {one.measure} {_with_interval(one.mean)}"


def _with_interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return two(found.value)
    return f"{_figure(found.value)} [{_figure(found.low)}, {_figure(found.high)}]"


def _figure(value: float | None) -> str:
    """Return two decimals, or two significant digits of a variance below 0.1."""
    return two(value) if value is None or not 0 < value < 0.095 else f"{value:.2g}"


def pass_rates(
    measure: str,
    values: Sequence[Sequence[float]],
    passing: Passing,
    clusters: Sequence[int] | None = None,
) -> tuple[PassRates, ...]:
    """Return pass^k and pass@k of a measure for each k.

    Parameters
    ----------
    values
        A row a question, of its trials.
    clusters
        The cluster of each question, if only clusters are independent.
    """
    counts = [(passing.passed(measure, row), len(row)) for row in values]
    most = min(MOST_K, min((trials for _, trials in counts), default=0))
    return tuple(
        PassRates(
            k,
            _mean_of_shares([all_pass(passed, trials, k) for passed, trials in counts], clusters),
            _mean_of_shares([any_passes(passed, trials, k) for passed, trials in counts], clusters),
        )
        for k in range(1, most + 1)
    )


def _mean_of_shares(shares: Sequence[float], clusters: Sequence[int] | None) -> Estimate:
    """Return the mean of shares over questions, with its interval."""
    value = math.fsum(shares) / len(shares)
    interval = mean_interval if clusters is None else partial(clustered_mean_interval, clusters=clusters)
    ends = interval(shares, lowest=0.0, highest=1.0)
    if ends is None:
        return Estimate(value, reason=_FEW, size=len(shares))
    return Estimate(value, *ends, size=len(shares))


def _of_measure(system: str, measure: str, results: Sequence[Evaluation], passing: Passing) -> Repetitions:
    columns = [result.held_values(measure) for result in results]
    known = dict.fromkeys(question for column in columns for question in column)
    shared = [question for question in known if all(question in column for column in columns)]
    clustered = results[0].clustered
    values = [[column[question] for column in columns] for question in shared]
    clusters = None if clustered is None else clustered.clusters.codes(shared)
    mean, between, within, unstable = components(values, *bounds_of(measure), clusters=clusters)
    passes: tuple[PassRates, ...] = ()
    if shared and passing.has_threshold(measure):
        passes = pass_rates(measure, values, passing, clusters)
    runs = tuple(result.run for result in results)
    left_out = len(known) - len(shared)
    words = passing.words(measure) if passes else None
    return Repetitions(system, runs, measure, len(shared), left_out, unstable, mean, between, within, passes, words)


def components(
    values: Sequence[Sequence[float]],
    lowest: float | None = None,
    highest: float | None = None,
    *,
    clusters: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Estimate, Estimate, Estimate, int]:
    """Return the mean, the variances between and within questions, and the number of questions that vary.

    Parameters
    ----------
    values
        A row a question, of as many repetitions each, at least two.
    lowest, highest
        The bounds of the values, which the interval of the mean doesn't exceed.
    clusters
        The cluster of each question, if only clusters are independent.
    """
    import numpy

    size = len(values)
    if not size:
        nothing = Estimate(None, reason="no question has a value in every repetition")
        return nothing, nothing, nothing, 0
    table = numpy.asarray(values, dtype=float)
    times = table.shape[1]
    means, spreads = table.mean(axis=1), table.var(axis=1, ddof=1)
    spreads[numpy.ptp(table, axis=1) <= 1e-12] = 0.0
    unstable = int((spreads > 0).sum())
    units = range(size) if clusters is None else clusters

    def mean_of(some: Any, least: float | None, most: float | None) -> Estimate:
        if clusters is None:
            ends = mean_interval(some.tolist(), least, most, resamples=resamples)
        else:
            ends = clustered_mean_interval(some.tolist(), clusters, least, most, resamples=resamples, seed=seed)
        value = math.fsum(some) / size
        if ends is None:
            why = _FEW if clusters is None else without_interval(ClusterSums.of(some, clusters))
            return Estimate(value, reason=why, size=size)
        return Estimate(value, *ends, size=size)

    extent = None if lowest is None or highest is None else highest - lowest
    # The variance of values of which half are at either bound.
    most = None if extent is None else extent**2 * (times // 2) * (times - times // 2) / (times * (times - 1))
    within = mean_of(spreads, 0.0, most)
    if not unstable:
        within = dataclasses.replace(within, reason="no two repetitions differ")
    between = Estimate(None, reason="one question shows no variance between questions", size=size)
    if size > 1:
        between = _between(mean_of, means, spreads / times, ClusterSums.of(means, units), (lowest, highest))
    return mean_of(means, lowest, highest), between, within, unstable


def _between(
    mean_of: Callable[[Any, float | None, float | None], Estimate],
    means: Any,
    errors: Any,
    units: ClusterSums,
    bounds: tuple[float | None, float | None],
) -> Estimate:
    """Return the variance between questions, with its interval or why it has none.

    It is the mean over questions of their squared deviation from the mean, less the error of their own means, and has
    the interval of such a mean. A system that is right on nearly all questions shows none or few of those that it is
    always wrong on: the interval reaches at least as far as their share may be (``unseen_share``).
    """
    size, middle = int(means.size), float(means.mean())
    larger = size / (size - 1)
    lowest, highest = bounds
    far = near = None
    if lowest is not None and highest is not None:
        far, near = larger * max(middle - lowest, highest - middle) ** 2, (middle - lowest) * (highest - middle)
    found = mean_of(larger * (means - middle) ** 2 - errors, None if near is None else -larger * near, far)
    assert found.value is not None
    value = max(0.0, found.value)
    if units.clusters < FEWEST_EQUAL:
        why = without_interval(units) if units.clusters < size else _FEW
        return Estimate(value, reason=why, size=size)
    if found.low is None or found.high is None:
        return dataclasses.replace(found, value=value)
    if far is None and found.high <= 0:
        return Estimate(value, reason="the questions differ less than their repetitions", size=size)
    unseen = 0.0 if far is None else unseen_share(units.effective) * far / larger
    return Estimate(value, max(0.0, found.low), max(value, found.high, unseen), size=size)
