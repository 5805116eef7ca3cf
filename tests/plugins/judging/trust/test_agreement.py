"""Agreement beyond chance: by hand, against scikit-learn, against published and recorded figures, and by coverage."""

from __future__ import annotations

import math
import random
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphkit.analysis.estimates import Estimate
from graphkit.plugins.judging.trust.agreement import Metric, Weights, alpha, gwet, kappa, raw_agreement
from graphkit.plugins.judging.trust.sample_estimates import needed, proportion
from graphkit.scoring.score_intervals import wilson_interval
from tests.helpers.properties import examples

YES_NO = ("n", "y")
DIGITS = ("0", "1")

#: The textbook table: both yes 20, first only 5, second only 10, both no 15.
FIRST = ["y"] * 25 + ["n"] * 25
SECOND = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15


def table(counts: Sequence[Sequence[int]]) -> tuple[list[str], list[str]]:
    """Return the labels of two graders with these counts."""
    cells = [(str(i), str(j)) for i, row in enumerate(counts) for j, count in enumerate(row) for _ in range(count)]
    return [one for one, _ in cells], [two for _, two in cells]


def error(estimate: Estimate) -> float:
    """Return the standard error behind an interval, without the half item of disagreement that graphkit adds."""
    shape = estimate.shape
    assert shape is not None
    # The items that the figure is worth are fewer by what Student's t is wider than the normal quantile.
    worth = shape.effective * (stats.t.ppf(0.975, estimate.size - 1) / stats.norm.ppf(0.975)) ** 2
    variance = shape.share * (1 - shape.share) / worth - 0.5 * (shape.share / estimate.size) ** 2
    return math.sqrt(max(0.0, variance)) / (1 - shape.base)


# Values ------------------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    """Agreement, kappa, AC1 and alpha of a table of 50 answers."""
    # 35 of 50 agree. Chance by the habits of each: .5 x .6 + .5 x .4 = .5, so kappa = .2 / .5.
    assert raw_agreement(FIRST, SECOND).value == 0.7
    assert kappa(FIRST, SECOND, YES_NO).value == pytest.approx(0.4)
    # Both together say yes to 55%: chance of hard items 2 x .55 x .45 = .495.
    assert gwet(FIRST, SECOND, YES_NO).value == pytest.approx((0.7 - 0.495) / (1 - 0.495))
    # Of the 100 grades 55 are yes: expected difference 2 x 55 x 45 / (100 x 99) = .5; 15 of 50 differ.
    assert alpha(list(zip(FIRST, SECOND, strict=True))).value == pytest.approx(1 - 0.3 / 0.5)


def test_weights_by_hand() -> None:
    """A step apart costs half of what two steps cost with linear weights, and a quarter with quadratic ones."""
    first, second = list("012012"), list("012120")
    # Three agree, two lie a step apart, one two steps: linear 3 + 2 x .5 of 6, quadratic 3 + 2 x .75 of 6.
    # Each grader says each label in a third of the cases; chance: 3 equal cells, 4 a step, 2 two steps of 9.
    linear, quadratic = 5 / 9, (3 + 4 * 0.75) / 9
    assert kappa(first, second, "012", "linear").value == pytest.approx((4 / 6 - linear) / (1 - linear))
    assert kappa(first, second, "012", "quadratic").value == pytest.approx((4.5 / 6 - quadratic) / (1 - quadratic))


@examples(40)
@given(st.lists(st.tuples(st.sampled_from("0123"), st.sampled_from("0123")), min_size=2, max_size=40))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    """Cohen's kappa, plain and weighted, is that of another library wherever it is defined."""
    from sklearn import metrics

    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    peers: tuple[tuple[Weights, str | None], ...] = (("none", None), ("linear", "linear"), ("quadratic", "quadratic"))
    for weights, name in peers:
        found = kappa(first, second, "0123", weights).value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = metrics.cohen_kappa_score(first, second, labels=list("0123"), weights=name)
        assert (found is None and math.isnan(peer)) or found == pytest.approx(peer, abs=1e-12)


#: 60 answers on four grades, and what irrCAC 0.4.4 gives for them: kappa and AC with their standard errors.
GRADES = ((22, 2, 1, 0), (3, 9, 2, 1), (0, 2, 5, 2), (0, 1, 1, 9))


@pytest.mark.parametrize(
    ("weights", "kappas", "gwets"),
    [
        ("none", (0.64734, 0.07642), (0.67267, 0.07430)),
        ("linear", (0.75925, 0.05967), (0.77716, 0.05689)),
        ("quadratic", (0.84848, 0.04810), (0.86002, 0.04518)),
    ],
)
def test_recorded_figures_of_irrcac(weights: Weights, kappas: tuple[float, float], gwets: tuple[float, float]) -> None:
    """Kappa, AC1 and AC2 with their standard errors are those of another library."""
    first, second = table(GRADES)
    found, other = kappa(first, second, "0123", weights), gwet(first, second, "0123", weights)
    assert found.value == pytest.approx(kappas[0], abs=5e-6)
    assert error(found) == pytest.approx(kappas[1], abs=5e-6)
    # irrCAC divides the variance of AC by n, Gwet's formula by n - 1.
    assert other.value == pytest.approx(gwets[0], abs=5e-6)
    assert error(other) * math.sqrt(59 / 60) == pytest.approx(gwets[1], abs=6e-6)


@pytest.mark.parametrize(("metric", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorff(metric: Metric, expected: float) -> None:
    """Krippendorff's own example (2011, "Computing Krippendorff's alpha-reliability"): four graders, missing grades."""
    rows: list[list[Any]] = [
        [1, 1, None, 1],
        [2, 2, 3, 2],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [2, 2, 2, 2],
        [1, 2, 3, 4],
        [4, 4, 4, 4],
        [1, 1, 2, 1],
        [2, 2, 2, 2],
        [None, 5, 5, 5],
        [None, None, 1, 1],
        [None, None, 3, None],
    ]
    assert alpha(rows, metric).value == pytest.approx(expected, abs=5e-4)


# At the edges ------------------------------------------------------------------------------------------------------


def test_one_category_is_no_agreement_beyond_chance() -> None:
    """If both say the same of everything, kappa and alpha don't exist, and AC1 is reported with what it rests on."""
    same = ["y"] * 15
    assert kappa(same, same, YES_NO).value is None
    assert "gave only 'y'" in str(kappa(same, same, YES_NO).reason)
    assert alpha(list(zip(same, same, strict=True))).value is None
    found = gwet(same, same, YES_NO)
    assert found.value == 1.0
    assert found.reason == "both gave only 'y'"
    # Wilson's lower bound of n of n is n / (n + z^2), with Student's t of 14 degrees in the place of z; chance is 0.
    assert found.low == pytest.approx(15 / (15 + stats.t.ppf(0.975, 14) ** 2))
    assert gwet(same, same, ("y",)).value is None


def test_no_item_and_one_item() -> None:
    """Nothing graded gives no value, one item no interval."""
    for figure in (raw_agreement([], []), kappa([], [], YES_NO), gwet([], [], YES_NO), alpha([]), proportion(0, 0)):
        assert (figure.value, figure.low, figure.high) == (None, None, None)
        assert figure.reason
    for figure in (kappa(["y"], ["n"], YES_NO), gwet(["y"], ["n"], YES_NO), alpha([("y", "n")])):
        assert figure.value is not None
        assert figure.low is None
        assert figure.reason == "one item doesn't show the spread"
    assert alpha([("y", None), (None, "n")]).reason == "no item has two grades"


def test_perfect_agreement_on_a_few_is_no_certainty() -> None:
    """If ten answers, five of each kind, are graded alike, kappa is 1 and its interval begins well below."""
    labels = ["y"] * 5 + ["n"] * 5
    low = 10 / (10 + stats.t.ppf(0.975, 9) ** 2)  # of the share that agrees
    for figure in (kappa(labels, labels, YES_NO), gwet(labels, labels, YES_NO)):
        assert figure.value == 1.0
        assert figure.low == pytest.approx((low - 0.5) / 0.5)
        assert figure.high == 1.0


@examples(60)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=12),
    st.sampled_from(["none", "linear", "quadratic"]),
)
def test_never_nan(pairs: list[tuple[str, str]], weights: Weights) -> None:
    """Whatever is graded, a figure is a number within its interval, or None with a reason."""
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    for found in (
        raw_agreement(first, second),
        kappa(first, second, "abc", weights),
        gwet(first, second, "abc", weights),
        alpha(pairs, "ordinal"),
    ):
        if found.value is None or found.low is None or found.high is None:
            assert found.reason
        else:
            assert found.value - found.low >= -1e-9
            assert found.high - found.value >= -1e-9
        assert not any(one is not None and not math.isfinite(one) for one in (found.value, found.low, found.high))


# Intervals ---------------------------------------------------------------------------------------------------------


def test_wilson_is_that_of_scipy() -> None:
    """The interval of a share is scipy's score interval."""
    for hits, items in ((0, 7), (3, 15), (12, 15), (15, 15)):
        peer = stats.binomtest(hits, items).proportion_ci(method="wilson")
        assert wilson_interval(hits / items, items) == pytest.approx((peer.low, peer.high), abs=1e-12)


def test_labels_that_a_width_takes() -> None:
    """The number of labels is the smallest whose interval is narrow enough, were the share to stay."""
    found = proportion(12, 15)
    enough = needed(found, 0.2)
    assert enough is not None

    def width(items: float) -> float:
        low, high = wilson_interval(0.8, items)
        return high - low

    assert width(enough) <= 0.2 < width(enough - 1)
    assert needed(Estimate(None, reason="nothing"), 0.2) is None
    assert needed(found, 1e-6) is None


def drawn(source: random.Random, shares: Sequence[float], follows: float, items: int) -> tuple[list[str], list[str]]:
    """Return labels of two graders: the second follows the first so often, and else has the same habit."""
    names = [str(place) for place in range(len(shares))]
    first = source.choices(names, shares, k=items)
    habit = source.choices(names, shares, k=items)
    return first, [one if source.random() < follows else other for one, other in zip(first, habit, strict=True)]


@pytest.mark.parametrize(
    ("shares", "follows", "items"), [((0.5, 0.5), 0.8, 30), ((0.2, 0.8), 0.6, 60), ((0.2, 0.1, 0.3, 0.4), 0.6, 30)]
)
def test_intervals_hold_the_truth(shares: tuple[float, ...], follows: float, items: int) -> None:
    """At least as many of 400 drawn samples hold the true kappa and alpha as 95% would in 999 of 1000 cases."""
    # Who follows with probability s, and else draws from the same habit, agrees s beyond chance.
    source, names = random.Random(7), [str(place) for place in range(len(shares))]
    figures: dict[str, Callable[[list[str], list[str]], Estimate]] = {
        "kappa": lambda one, two: kappa(one, two, names),
        "alpha": lambda one, two: alpha(list(zip(one, two, strict=True)), order=names),
    }
    for name, figure in figures.items():
        samples, held = 400 if name == "kappa" else 150, 0
        for _ in range(samples):
            found = figure(*drawn(source, shares, follows, items))
            held += found.low is not None and found.high is not None and found.low <= follows <= found.high
        assert stats.binomtest(held, samples, 0.95, alternative="less").pvalue > 0.001, (name, held)


def test_few_items_that_differ_have_a_caution() -> None:
    """Five of 60 items that differ say little of rare disagreements, and six enough."""
    for apart, caution in ((5, "the interval may be too narrow: 5 of 60 items differ, fewer than 6"), (6, None)):
        first, second = "01" * 30, "01" * 27 + "10" * 3 if apart == 6 else "01" * 27 + "10" * 2 + "11"
        found = [kappa(first, second, DIGITS), gwet(first, second, DIGITS)]
        found.append(alpha([*zip(first, second, strict=True)], order=DIGITS))
        assert [one.reason for one in found] == [caution] * 3


def test_alpha_of_grades_near_one_is_held() -> None:
    """Of samples of 30 answers with an ordinal alpha of .9, at least 93% of the intervals hold it."""
    source, held = random.Random(13), 0
    for _ in range(300):
        pairs = [*zip(*drawn(source, (0.25, 0.25, 0.25, 0.25), 0.9, 30), strict=True)]
        found = alpha(pairs, "ordinal", "0123")
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.9 <= found.high
    assert held >= 279


def test_normal_interval_would_fail() -> None:
    """The test of coverage can fail: the normal interval holds the truth too seldom."""
    source, held = random.Random(7), 0
    for _ in range(400):
        found = kappa(*drawn(source, (0.1, 0.9), 0.8, 30), DIGITS)
        if found.value is not None and found.shape is not None:
            held += abs(found.value - 0.8) <= 1.96 * error(found)
    assert stats.binomtest(held, 400, 0.95, alternative="less").pvalue < 0.001


def test_alpha_of_numbers_is_that_of_all_pairs() -> None:
    """For numbers, alpha and each alpha without an item are those of the definition, pair by pair."""
    source = random.Random(2)
    rows = [[round(source.random(), 2) for _ in range(source.randint(2, 4))] for _ in range(8)]

    def by_definition(some: list[list[float]]) -> float:
        every = [value for row in some for value in row]
        within = sum(sum((x - y) ** 2 for x in row for y in row) / (len(row) - 1) for row in some)
        between = sum((x - y) ** 2 for x in every for y in every)
        return 1 - (within / len(every)) / (between / (len(every) * (len(every) - 1)))

    found = alpha(rows, "interval")
    assert found.value == pytest.approx(by_definition(rows))
    others = [by_definition(rows[:place] + rows[place + 1 :]) for place in range(8)]
    jackknife = 7 / 8 * sum((one - sum(others) / 8) ** 2 for one in others)
    assert error(found) == pytest.approx(math.sqrt(jackknife))


def test_alpha_of_many_answers_is_quick() -> None:
    """Three gradings of 3,000 answers take a moment, numbers and grades alike."""
    source = random.Random(4)
    start = time.process_time()
    assert alpha([[source.random() for _ in range(3)] for _ in range(3000)], "interval").value is not None
    assert alpha([source.choices("abcd", k=3) for _ in range(3000)], "ordinal").value is not None
    assert time.process_time() - start < 20
