"""Bradley and Terry's strengths: against an independent fit, on separated verdicts, and by simulated judges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy
import pytest
from scipy.optimize import minimize

from graphkit.plugins.judging.pairwise.strengths import SEPARATED, Strengths, strengths
from graphkit.plugins.judging.pairwise.win_rates import HeadToHead
from tests.plugins.judging.pairwise.simulated import chances, compared, simulated

RUNS = ("r", "s", "t")


def rows(comparisons: Sequence[Any]) -> dict[str, dict[tuple[str, str], Sequence[float]]]:
    """Return the weights of comparisons, as the head to head computes them."""
    found = HeadToHead(RUNS, ("c",), comparisons)
    return {
        question: {pair: found.by_question[(*pair, "c")][question].weights for pair in found.pairs}
        for question in found.questions
    }


def by_likelihood(table: dict[str, dict[tuple[str, str], Sequence[float]]]) -> list[float]:
    """Return the most likely strengths by a general minimiser, written from the model's definition alone."""
    whole: dict[tuple[str, str], Any] = {
        pair: sum(numpy.asarray(some[pair]) for some in table.values()) + 1 / 6 for pair in combinations(RUNS, 2)
    }

    def cost(given: Any) -> float:
        one, two, place, ties = given
        strength = dict(zip(RUNS, (one, two, -one - two), strict=True))
        total = 0.0
        for (a, b), weights in whole.items():
            ahead = chances(strength[a], strength[b], place, ties)
            behind = chances(strength[b], strength[a], place, ties)
            # a wins, b wins, a tie; where b stands first its win is the first chance.
            likely = [*ahead, behind[1], behind[0], behind[2]]
            total -= float(weights @ numpy.log(likely))
        return total

    found = minimize(
        cost, numpy.zeros(4), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999}
    )
    one, two = found.x[:2]
    return [one, two, -one - two]


@pytest.mark.parametrize("seed", range(3))
def test_the_most_likely_strengths(seed: int) -> None:
    """They are those that a general minimiser of the likelihood finds, with the question that is added to each pair.

    Its weight of 1 falls evenly on both orders and three outcomes: 1/6 each.
    """
    true = {"r": 0.5, "s": -0.8, "t": 0.3}
    some = simulated(true, 25, numpy.random.default_rng(seed), place=0.7, ties=-0.5, trials=2)
    table = rows(some)
    found = strengths(RUNS, table)
    expected = dict(zip(RUNS, by_likelihood(table), strict=True))
    assert {run: one.value for run, one in found.runs.items()} == pytest.approx(expected, abs=1e-5)
    assert list(found.runs) == sorted(RUNS, key=lambda run: -expected[run])
    assert sum(one.value or 0 for one in found.runs.values()) == pytest.approx(0, abs=1e-9)


def always(*order: str, questions: int = 20) -> Strengths:
    """Return the strengths of runs of which each always beats those named behind it."""
    some = [
        compared(f"q{number}", *shown, "first" if order.index(shown[0]) < order.index(shown[1]) else "second")
        for number in range(questions)
        for pair in combinations(order, 2)
        for shown in (pair, pair[::-1])
    ]
    return strengths(RUNS, rows(some))


def test_separated_verdicts() -> None:
    """A run that wins everything has a finite strength and an interval around it, and the reason is said.

    Of two outcomes and 20 questions a pair, the added question gives odds of 20.5 to 0.5 between neighbours at most.
    """
    found = always("t", "r", "s")
    assert list(found.runs) == ["t", "r", "s"]
    assert found.reason == SEPARATED
    for one in found.runs.values():
        assert one.value is not None
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.value < one.high
        assert abs(one.value) < 2 * numpy.log(41)
    # More questions let it grow, without end but slowly.
    more = always("t", "r", "s", questions=200)
    assert (more.runs["t"].value or 0) > (found.runs["t"].value or 0)


def test_a_judge_of_places() -> None:
    """Who always prefers the first place finds no strength: all are 0, and the place's advantage is finite."""
    pairs = [*combinations(RUNS, 2), *((two, one) for one, two in combinations(RUNS, 2))]
    found = strengths(RUNS, rows([compared(f"q{n}", *pair, "first") for n in range(12) for pair in pairs]))
    assert [one.value for one in found.runs.values()] == pytest.approx([0, 0, 0], abs=1e-9)
    # 6 wins and 1/4 against 1/4 an order: odds of 25, whose logarithm is the advantage.
    assert found.first == pytest.approx(numpy.log(25))


def test_few_questions_have_no_interval() -> None:
    """Five questions show no spread; one cluster neither."""
    table = rows(simulated(dict.fromkeys(RUNS, 0.0), 5, numpy.random.default_rng(4)))
    assert {one.low for one in strengths(RUNS, table).runs.values()} == {None}
    many = rows(simulated(dict.fromkeys(RUNS, 0.0), 20, numpy.random.default_rng(4)))
    clustered = strengths(RUNS, many, dict.fromkeys(many, 0))
    assert {one.reason for one in clustered.runs.values()} == {"too few clusters"}


def test_the_same_seed_gives_the_same_interval() -> None:
    """The bootstrap is seeded."""
    table = rows(simulated(dict.fromkeys(RUNS, 0.0), 20, numpy.random.default_rng(5)))
    assert strengths(RUNS, table, seed=1) == strengths(RUNS, table, seed=1)
    assert strengths(RUNS, table, seed=1) != strengths(RUNS, table, seed=2)


def covered(judges: int, questions: int) -> float:
    """Return the share of intervals that hold the known strength, over simulated judges with a place and ties."""
    held = []
    for number in range(judges):
        random = numpy.random.default_rng(number)
        drawn = random.normal(0, 0.6, 3)
        true = dict(zip(RUNS, drawn - drawn.mean(), strict=True))
        some = simulated(true, questions, random, place=random.normal(0, 1), ties=random.normal(-0.8, 0.4))
        found = strengths(RUNS, rows(some), seed=number, resamples=500)
        held += [(one.low or 0) <= true[run] <= (one.high or 0) for run, one in found.runs.items()]
    return float(numpy.mean(held))


def test_intervals_of_strengths_cover_in_a_few() -> None:
    """Of the 90 intervals of 30 judges at least 76 hold the known strength: fewer happen once in 1,000 or less."""
    assert covered(30, 25) >= 76 / 90


@pytest.mark.slow
def test_intervals_of_strengths_cover() -> None:
    """Of the intervals of 1,000 judges 93% to 97% hold the known strength."""
    assert 0.93 <= covered(1000, 40) <= 0.97
