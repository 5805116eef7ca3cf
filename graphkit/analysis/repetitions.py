"""Repetitions of one system: the mean over all of them, and the variance within and between questions.

The model is a one-way layout with random effects: question ``q`` has the mean ``m(q)`` and the sample variance
``v(q)`` over its ``R`` repetitions. The variance within questions is the mean of ``v``, and the variance between
questions that of ``m`` less a share ``1/R`` of it (Searle, Casella and McCulloch 1992, *Variance Components*).
Questions (or their clusters) are independent, repetitions of one question are not: intervals resample questions, with
all of their repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.estimates import Estimate, fields_of, student_quantile
from graphkit.analysis.findings import BriefLine, two
from graphkit.measures.registry import bounds_of
from graphkit.records.repetition_names import repetitions_by_name
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import clustered_interval, without_interval
from graphkit.scoring.intervals import (
    CONFIDENCE,
    DRAWN_TOGETHER,
    FEWEST_EQUAL,
    MANY,
    RESAMPLES,
    SEED,
    alike,
    mean_interval,
)
from graphkit.scoring.results import Evaluation

_FEW = "too few questions for an interval"


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

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return fields_of(self)


def repetitions(results: Sequence[Evaluation]) -> list[Repetitions]:
    """Return the figures of each system that several results repeat, by their names (``NAME@1``, ``NAME@2``, ...).

    Only measures by which each repetition was scored are there, and only results that hold rows and have the same gold.
    """
    by_run = {result.run: result for result in results}
    found = []
    for system, runs in repetitions_by_name(by_run).items():
        repeated = [by_run[run] for run in runs]
        if all(one.rows for one in repeated) and len({one.gold_hash for one in repeated}) == 1:
            shared = [name for name in repeated[0].measures if all(name in one.measures for one in repeated)]
            found += [_of_measure(system, name, repeated) for name in shared]
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


def _of_measure(system: str, measure: str, results: Sequence[Evaluation]) -> Repetitions:
    columns = [result.held_values(measure) for result in results]
    known = dict.fromkeys(question for column in columns for question in column)
    shared = [question for question in known if all(question in column for column in columns)]
    clustered = results[0].clustered
    mean, between, within, unstable = components(
        [[column[question] for column in columns] for question in shared],
        *bounds_of(measure),
        clusters=None if clustered is None else clustered.clusters.codes(shared),
    )
    runs = tuple(result.run for result in results)
    left_out = len(known) - len(shared)
    return Repetitions(system, runs, measure, len(shared), left_out, unstable, mean, between, within)


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
    means, spreads = table.mean(axis=1), table.var(axis=1, ddof=1)
    spreads[numpy.ptp(table, axis=1) <= 1e-12] = 0.0
    unstable = int((spreads > 0).sum())

    def mean_of(some: Any, least: float | None, most: float | None) -> Estimate:
        if clusters is None:
            span = mean_interval(some.tolist(), least, most, resamples=resamples)
            low, high = span if span is not None else (None, None)
            return Estimate(math.fsum(some) / size, low, high, None if span is not None else _FEW, size)
        low, high = clustered_interval(some, clusters, resamples=resamples, seed=seed)
        if low is None or high is None:
            return Estimate(math.fsum(some) / size, reason=without_interval(len({*clusters})), size=size)
        low, high = low if least is None else max(least, low), high if most is None else min(most, high)
        return Estimate(math.fsum(some) / size, low, high, size=size)

    within = mean_of(spreads, 0.0, None) if unstable else Estimate(0.0, reason="no two repetitions differ", size=size)
    between = _between(means, spreads, table.shape[1], clusters, resamples, seed)
    return mean_of(means, lowest, highest), between, within, unstable


def _between(
    means: Any, spreads: Any, times: int, clusters: Sequence[int] | None, resamples: int, seed: int
) -> Estimate:
    """Return the variance between questions with its interval, or why it has none.

    On each side it is the wider of the BCa bootstrap and of the jackknife on the logarithm with Student's t, both over
    questions or their clusters: BCa alone is too narrow for a variance over few questions.
    """
    import numpy
    from scipy import stats

    size = int(means.size)
    if size < 2:
        return Estimate(None, reason="one question shows no variance between questions", size=size)
    codes = numpy.arange(size) if clusters is None else numpy.unique(clusters, return_inverse=True)[1]
    centred = means - means.mean()
    sums = [numpy.bincount(codes, weights=some) for some in (numpy.ones(size), centred, centred**2, spreads)]

    def variance(number: Any, some: Any, squares: Any, within: Any) -> Any:
        """Return the variance between as many questions, from the sums of their means, squared means and variances."""
        return numpy.maximum(0.0, (squares - some**2 / number) / (number - 1) - within / number / times)

    units, value = int(sums[0].size), float(variance(*(some.sum() for some in sums)))
    if units < FEWEST_EQUAL:
        return Estimate(value, reason=_FEW if clusters is None else without_interval(units), size=size)
    if alike(means) and alike(spreads):
        return Estimate(value, reason="all questions are alike", size=size)
    without = variance(*(some.sum() - some for some in sums))
    logarithmic = _jackknife(value, without)
    if units > MANY and logarithmic is not None:  # the bootstrap agrees with it
        return Estimate(value, *logarithmic, size=size)
    found = stats.bootstrap(
        sums,
        lambda *drawn, axis=-1: variance(*(some.sum(axis) for some in drawn)),
        paired=True,
        vectorized=True,
        confidence_level=CONFIDENCE,
        n_resamples=resamples,
        batch=max(1, DRAWN_TOGETHER // units),
        method="percentile" if alike(without) else "BCa",  # BCa needs a difference between units
        rng=numpy.random.default_rng(seed),
    ).confidence_interval
    low, high = logarithmic or (math.nan, math.nan)
    low, high = float(numpy.fmin(low, found.low)), float(numpy.fmax(high, found.high))
    if math.isnan(low) or math.isnan(high):
        return Estimate(value, reason=_FEW, size=size)
    return Estimate(value, max(0.0, low), high, size=size)


def _jackknife(value: float, without: Any) -> tuple[float, float] | None:
    """Return the interval of a variance by the jackknife of its logarithm; None if it is 0 without some unit."""
    import numpy

    if not value > 0 or not (without > 0).all():
        return None
    units, logs = without.size, numpy.log(without)
    error = math.sqrt((units - 1) / units * float(((logs - logs.mean()) ** 2).sum()))
    reach = math.exp(student_quantile(units - 1) * error)
    return value / reach, value * reach
