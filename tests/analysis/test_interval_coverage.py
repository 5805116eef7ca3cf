"""The share of samples whose interval holds the true value: exact for yes-or-no values, seeded draws for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy
import pytest
from scipy import stats

from graphkit.analysis.paired import compare_pairs
from graphkit.plugins.judging.trust.inflation import mean_difference
from graphkit.scoring.clustered_intervals import ClusterSums, cautioned, clustered_interval, clustered_mean_interval
from graphkit.scoring.intervals import interval, mean_caution, mean_interval

#: Few resamples: the seed stays the same, and the shares below hold with more.
RESAMPLES = 199

Bounds = tuple[float | None, float | None] | None


def holds(ends: Bounds, value: float) -> bool:
    """Return whether an interval is there and holds a value."""
    return ends is not None and None not in ends and ends[0] - 1e-9 <= value <= ends[1] + 1e-9  # type: ignore[operator]


@pytest.mark.parametrize("questions", [10, 20, 30])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 0.98])
def test_the_mean_of_yes_or_no_values(share: float, questions: int) -> None:
    """Over all samples, each with its binomial probability, the interval holds the true share in at least 93%."""
    held = 0.0
    for right in range(questions + 1):
        chance = float(stats.binom.pmf(right, questions, share))
        if chance > 1e-6:
            values = [1.0] * right + [0.0] * (questions - right)
            held += chance * holds(mean_interval(values, 0.0, 1.0, resamples=RESAMPLES), share)
    assert held >= 0.93


def test_a_mean_of_nearly_only_ones() -> None:
    """97% of the values are 1, the others anything from 0 to 1: 93% of the intervals hold .985, without a caution."""
    random, held = numpy.random.default_rng(3), 0
    for _ in range(300):
        values = numpy.where(random.random(20) < 0.97, 1.0, random.random(20)).tolist()
        held += holds(mean_interval(values, 0.0, 1.0, resamples=RESAMPLES), 0.985)
        assert mean_caution(values, 0.0, 1.0) is None or min(values) == 1.0
    assert held >= 279


def _uneven(random: Any, clusters: int) -> Any:
    sizes = numpy.clip(numpy.rint(random.lognormal(1.8, 0.9, clusters)), 1, 40).astype(int)
    return numpy.repeat(numpy.arange(clusters), sizes)


def _shares(mean: float) -> Callable[[Any, Any], Any]:
    """Return what draws yes or no by clusters, each with a share of its own, whose variance is .3 mean (1 - mean)."""
    weight = 0.7 / 0.3
    return lambda random, codes: (
        random.random(codes.size) < random.beta(mean * weight, (1 - mean) * weight, codes.max() + 1)[codes]
    ).astype(float)


@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_uneven_clusters(mean: float) -> None:
    """Of 30 clusters of 1 to 40 questions, 93% of the intervals hold the mean."""
    random, held = numpy.random.default_rng(5), 0
    for _ in range(200):
        codes = _uneven(random, 30)
        values = _shares(mean)(random, codes)
        held += holds(clustered_mean_interval(values, codes, 0.0, 1.0, resamples=RESAMPLES), mean)
    assert held >= 186


def test_uneven_clusters_that_do_not_differ() -> None:
    """Differences over 20 uneven clusters hold 0 in 93%; so few effective clusters have a caution."""
    random, held = numpy.random.default_rng(9), 0
    for _ in range(300):
        codes = _uneven(random, 20)
        differences = _shares(0.3)(random, codes) - _shares(0.3)(random, codes)
        held += holds(clustered_interval(differences, codes, resamples=RESAMPLES, span=1.0), 0.0)
        assert cautioned(ClusterSums.of(differences, codes))
    assert held >= 279


def _skewed(random: Any, size: int) -> Any:
    """Return differences of -1 in 5% and of .25 in 20%, so of 0 on average."""
    return random.choice([-1.0, 0.0, 0.25], p=[0.05, 0.75, 0.2], size=size)


@pytest.mark.parametrize("questions", [20, 30, 60])
def test_skewed_differences_are_found_or_doubted(questions: int) -> None:
    """Where rare losses undo frequent gains, at most 5% of the samples are called different without a caution."""
    random, sure = numpy.random.default_rng(11), 0
    for _ in range(300):
        sure += _called_different(tuple(sorted(_skewed(random, questions).tolist())))
    assert sure <= 15


@cache
def _called_different(differences: tuple[float, ...]) -> bool:
    """Return whether test and interval call two runs different, without a caution."""
    found = compare_pairs("m", [0.0] * len(differences), differences, span=1.0, resamples=499)
    return found.p_value < 0.05 and not holds((found.low, found.high), 0.0) and found.caution is None


@pytest.mark.parametrize(("wins", "losses", "clear"), [(6, 0, True), (12, 3, True), (9, 6, False)])
def test_yes_or_no_differences_keep_their_verdict(wins: int, losses: int, clear: bool) -> None:
    """The exact test of signs decides yes-or-no differences without a further doubt about what was not drawn."""
    second: Sequence[float] = [1.0] * wins + [0.0] * (30 - wins)
    first: Sequence[float] = [0.0] * wins + [1.0] * losses + [0.0] * (30 - wins - losses)
    found = compare_pairs("m", first, second, span=1.0)
    # By scipy.stats.binomtest: 6 of 6 .031, 12 of 15 .035, 9 of 15 .607.
    assert found.p_value == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, abs=0.02)
    assert (not holds((found.low, found.high), 0.0)) is clear
    assert found.caution is None


def test_equal_differences_do_not_promise_the_others() -> None:
    """Thirty equal differences of 0 have an interval that is at least three in thirty wide on each side."""
    low, high = interval([0.0] * 30, span=1.0)
    assert low is not None
    assert high is not None
    assert -low == pytest.approx(high)
    assert high >= 3 / 30


@pytest.mark.parametrize("answers", [15, 30])
def test_the_inflation_of_a_good_judge(answers: int) -> None:
    """A judge passes 30% of the 5% that are wrong: 93% of the intervals hold its inflation of .015, with a width."""
    random, held = numpy.random.default_rng(15), 0
    for _ in range(200):
        person = random.random(answers) < 0.95
        judge = person | (random.random(answers) < 0.3)
        found = mean_difference(person.astype(float).tolist(), judge.astype(float).tolist(), 1.0)
        assert found.low is not None
        assert found.high is not None
        assert found.high - found.low >= 3 / answers
        held += found.low <= 0.015 <= found.high
        assert found.reason
    assert held >= 186
