"""Pearson's and Spearman's correlation: by hand, against scipy, at the edges, and by coverage."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphkit.analysis.estimates import Estimate
from graphkit.plugins.judging.trust.correlation import GROUPS, pearson, spearman
from tests.helpers.properties import examples
from tests.helpers.suites import one_fast

Figure = Callable[[Sequence[float], Sequence[float]], Estimate]
FIGURES: tuple[Figure, ...] = (pearson, spearman)


def peer(figure: Figure, first: Sequence[float], second: Sequence[float]) -> float:
    """Return scipy's correlation."""
    found = stats.pearsonr(first, second) if figure is pearson else stats.spearmanr(first, second)
    return float(found.statistic)


def test_by_hand() -> None:
    """1, 2, 3, 10 and 1 to 4 rise together, but not on a line."""
    # Around the means 4 and 2.5: products 4.5 + 1 - .5 + 9 = 14, squares 9 + 4 + 1 + 36 = 50 and 5.
    assert pearson([1, 2, 3, 10], [1, 2, 3, 4]).value == pytest.approx(14 / math.sqrt(250))
    assert spearman([1, 2, 3, 10], [1, 2, 3, 4]).value == pytest.approx(1.0)
    # A judge that halves each grade agrees on none and has a correlation of 1; one that turns them round has -1.
    assert pearson([0.2, 0.6, 0.8], [0.1, 0.3, 0.4]).value == pytest.approx(1.0)
    assert spearman([1, 2, 3], [9, 8, 1]).value == pytest.approx(-1.0)


def test_equal_numbers_share_their_middle_rank() -> None:
    """Ranks 1.5, 1.5, 3 and 1, 2, 3: around the mean rank of 2, products 1.5, squares 1.5 and 2."""
    assert spearman([4, 4, 9], [1, 2, 3]).value == pytest.approx(1.5 / math.sqrt(3))


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=40))
def test_both_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    """Each is that of another library, and has no value where that has none, since a rater gave one number only."""
    first, second = [one / 10 for one, _ in pairs], [two / 10 for _, two in pairs]
    constant = len(set(first)) == 1 or len(set(second)) == 1
    for figure in FIGURES:
        found = figure(first, second)
        assert found.size == len(pairs)
        assert (found.value is None) == constant
        if found.value is not None:
            assert found.value == pytest.approx(peer(figure, first, second), abs=1e-9)


@pytest.mark.parametrize("figure", FIGURES)
def test_unknown_and_uncertain(figure: Figure) -> None:
    """Nothing, one item, and one number only have no value; if one item makes all the difference, no interval."""
    assert str(figure([], [])) == "– (no item was graded by both)"
    assert str(figure([0.5], [0.7])) == "– (a rater gave only 0.5, and what doesn't vary has no correlation)"
    assert "a rater gave only 0.1," in str(figure([1, 2, 3], [0.1, 0.1, 0.1]))
    for first, second in (([1, 2], [4, 3]), ([5, 5, 5, 1], [0.1, 0.2, 0.3, 0.4])):
        found = figure(first, second)
        assert found.value is not None
        assert found.value < 0
        assert (found.low, found.high) == (None, None)
        assert found.reason == "a rater gave one number to all but a few items, so the spread is unknown"


@pytest.mark.parametrize("figure", FIGURES)
def test_a_line_of_few_items_is_no_certainty(figure: Figure) -> None:
    """Ten numbers that the judge repeats have a correlation of 1, and an interval that begins far below."""
    found = figure(range(10), range(10))
    # Without any spread it is worth its items, (1.96 / 2.26)^2 x 10 = 7.51; Wilson from 7.51 / (7.51 + 3.84) = .662.
    assert found.value == pytest.approx(1.0)
    assert found.low == pytest.approx(2 * 0.662 - 1, abs=2e-3)
    assert found.high == pytest.approx(1.0)


@pytest.mark.parametrize("figure", FIGURES)
def test_the_spread_is_that_of_the_jackknife(figure: Figure) -> None:
    """The variance is that of scipy's correlations of all items but one."""
    source = random.Random(5)
    first = [source.randint(0, 10) for _ in range(12)]
    second = [one + source.randint(-3, 3) for one in first]
    others = [peer(figure, first[:one] + first[one + 1 :], second[:one] + second[one + 1 :]) for one in range(12)]
    variance = 11 / 12 * sum((one - sum(others) / 12) ** 2 for one in others)
    shape = figure(first, second).shape
    assert shape is not None
    # A share's variance on its scale is a quarter of that; Student's t has 11 degrees of freedom.
    worth = shape.effective * (stats.t.ppf(0.975, 11) / stats.norm.ppf(0.975)) ** 2
    assert shape.share * (1 - shape.share) / worth == pytest.approx(variance / 4)


def followed(source: random.Random, items: int) -> tuple[list[int], list[int]]:
    """Return a person's grades of 0 to 10, and those of a judge that repeats six of ten and draws the others."""
    person = [source.randint(0, 10) for _ in range(items)]
    return person, [one if source.random() < 0.6 else source.randint(0, 10) for one in person]


@one_fast("figure", FIGURES, "a simulation", 0)
def test_intervals_hold_the_truth(figure: Figure) -> None:
    """At least as many of 150 drawn samples hold the true correlation as 95% would in 999 of 1000 cases."""
    # The judge's grades have the person's mean and variance; where it draws, the products are 0 on average.
    source, held = random.Random(7), 0
    for _ in range(150):
        found = figure(*followed(source, 40))
        held += found.low is not None and found.high is not None and found.low <= 0.6 <= found.high
    assert stats.binomtest(held, 150, 0.95, alternative="less").pvalue > 0.001, held


def test_the_interval_of_normal_numbers_would_fail() -> None:
    """The test of coverage can fail: Fisher's interval, which supposes normal numbers, holds the truth too seldom."""
    source, held = random.Random(7), 0
    for _ in range(150):
        peers = stats.pearsonr(*followed(source, 40)).confidence_interval(0.95)
        held += int(peers.low <= 0.6 <= peers.high)
    assert stats.binomtest(held, 150, 0.95, alternative="less").pvalue < 0.001, held


def test_groups_of_many_items_give_nearly_the_same_interval() -> None:
    """With three items in each group of the jackknife, the interval is that of normal numbers to within a tenth."""
    source = random.Random(3)
    first = [source.gauss(0, 1) for _ in range(3 * GROUPS)]
    second = [one + source.gauss(0, 1) for one in first]
    peers = stats.pearsonr(first, second).confidence_interval(0.95)
    found = pearson(first, second)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(peers.high - peers.low, rel=0.15)
