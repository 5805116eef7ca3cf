"""Win rates, biases, agreement and gates of comparisons, worked by hand and by simulated judges."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.plugins.judging.pairwise.comparisons import BOTH_LACK, AnswerComparison
from graphkit.plugins.judging.pairwise.win_rates import NO_VERDICT, HeadToHead, WinRate
from graphkit.records.scores import Score
from graphkit.scoring.question_clusters import QuestionClusters
from tests.helpers.properties import examples
from tests.plugins.judging.pairwise.simulated import chances, compared, simulated


def head(
    comparisons: Iterable[AnswerComparison], *runs: str, criteria: Iterable[str] = ("c",), **more: Any
) -> HeadToHead:
    """Return the comparisons of runs, a and b by default."""
    return HeadToHead(runs or ("a", "b"), tuple(criteria), list(comparisons), **more)


def only(found: HeadToHead) -> WinRate:
    """Return the one win rate."""
    [rate] = found.rates
    return rate


def both(question: str, a_first: str | None, b_first: str | None, **more: Any) -> list[AnswerComparison]:
    """Return the comparisons of a and b in both orders by their winners, ``first``, ``second`` or ``tie``."""
    return [compared(question, "a", "b", a_first, **more), compared(question, "b", "a", b_first, **more)]


def test_trials_are_averaged_first_then_orders_then_questions() -> None:
    """b is worth (1 + 0)/2 where a stands first and 1 where b does, so 3/4 on q1; on q2 0.5; the mean is 5/8."""
    more = [compared("q1", "a", "b", "first", trial=2), *both("q2", "tie", "tie")]
    found = head([*both("q1", "second", "first"), *more])
    rate = only(found)
    assert rate.rate.value == pytest.approx(5 / 8)
    assert (rate.won, rate.drawn, rate.lost, rate.disagreeing) == (1, 1, 0, ("q1",))
    win = found.by_question["a", "b", "c"]["q1"]
    assert (win.value, win.as_first, win.as_second) == (0.75, 1.0, 0.5)
    # a first: one of two won, one lost, each a quarter; b first: a lost one of one, a half.
    assert win.weights == (0.25, 0.25, 0.0, 0.0, 0.5, 0.0)


def test_the_same_whichever_run_is_named_first() -> None:
    """The win rate of a against b is what that of b against a leaves."""
    some = simulated({"a": 0.0, "b": 1.0}, 20, numpy.random.default_rng(1))
    one, other = only(head(some)), only(head(some, "b", "a"))
    assert one.rate.value == pytest.approx(1 - (other.rate.value or 0))
    assert one.result is not None
    assert other.result is not None
    assert one.result.p_value == pytest.approx(other.result.p_value)


def test_a_judge_that_always_prefers_the_first_answer() -> None:
    """Each question gives 0.5, the position bias is 0.5, every pair of orders disagrees, and a warning says so."""
    found = head(one for number in range(30) for one in both(f"q{number}", "first", "first"))
    rate = only(found)
    assert (rate.rate.value, rate.drawn, len(rate.disagreeing)) == (0.5, 30, 30)
    assert rate.verdict.winner is None
    assert (found.bias.position.value, found.bias.disagree.value) == (0.5, 1.0)
    [warning] = found.bias.warnings()
    assert "always prefers the answer that it is shown first" in warning
    assert found.gates([("win_rate", 0.5)])[0].passed  # neither is better


def test_length_bias() -> None:
    """The longer answer wins in one order and draws in the other: 3/4 - 1/2. Of equal lengths nothing is known."""
    long = [
        compared("q1", "a", "b", "second", first_length=1, second_length=5),
        compared("q1", "b", "a", "tie", first_length=5, second_length=1),
    ]
    found = head([*long, *both("q2", "first", "first")])
    assert (found.bias.length.value, found.bias.length.size) == (0.25, 1)


def test_what_no_judge_was_asked_is_no_bias() -> None:
    """The judge takes the first of two answers to q1 in both orders; those to q2 are the same, and nobody is asked.

    Its position bias is 0.5 over q1 alone, where the orders disagree; the win rate is over both.
    """
    same = both("q2", "tie", "tie", attempts=0)
    found = head([*both("q1", "first", "first"), *same])
    assert (found.bias.position.value, found.bias.position.size) == (0.5, 1)
    assert (found.bias.disagree.value, found.bias.disagree.size) == (1.0, 1)
    assert found.bias.length.reason == "the answers to each question are equally long"
    assert only(found).rate.size == 2
    alone = head(same).bias
    assert {one.reason for one in (alone.position, alone.length, alone.disagree)} == {
        "the judge was asked about no question"
    }
    halved = head(both("q1", "first", None)).bias
    assert (halved.position.value, halved.disagree.reason) == (0.5, "no question has a verdict in both orders")
    single = only(head(same))
    assert single.rate.reason == "too few questions for an interval: 1 question"
    assert single.in_words == "0.500 (too few questions for an interval: 1 question)"


def test_runs_without_a_comparison_have_no_strength() -> None:
    """A page may show more runs than a judge compared: those that no comparison links to the others aren't ranked."""
    some = simulated({"a": 0.0, "b": 0.5, "c": 1.0}, 8, numpy.random.default_rng(4))
    assert head(both("q1", "first", "second"), "a", "b", "c").strengths == {}
    assert {*head(some, "d", "a", "b", "c").strengths["c"].runs} == {"a", "b", "c"}
    chain = [one for one in some if {one.first, one.second} != {"a", "c"}]
    assert {*head(chain, "a", "b", "c").strengths["c"].runs} == {"a", "b", "c"}
    two = [*both("q1", "first", "second"), compared("q1", "c", "d", "first"), compared("q1", "d", "c", "second")]
    assert head(two, "a", "b", "c", "d").strengths == {}


def test_failed_and_unanswered() -> None:
    """One order without a verdict is no value; a run without an answer loses without a judge; of two nothing counts.

    The mean is over q1 (b won: 1) and q3 (b has no answer: 0). At a gate q2 and q4 count as lost, so it is 1/4.
    """
    lacks = [
        compared("q3", "a", "b", "first", unanswered="second"),
        compared("q3", "b", "a", "second", unanswered="first"),
    ]
    none = [
        compared("q4", *runs, None, unanswered="both", failure="unanswered", reason=BOTH_LACK)
        for runs in (("a", "b"), ("b", "a"))
    ]
    found = head([*both("q1", "second", "first"), *both("q2", "second", None), *lacks, *none])
    rate = only(found)
    assert (rate.rate.value, rate.rate.size, rate.unanswered) == (0.5, 2, 1)
    assert rate.without == {NO_VERDICT: 1, BOTH_LACK: 1}
    assert rate.verdict.asked == 4
    assert found.bias.position.size == 2  # q1, and the verdict on q2
    assert [one.question for one in found.failed] == ["q2"]
    [gate] = found.gates([("c", 0.5)])
    assert (gate.passed, gate.value, gate.n) == (False, 0.25, 4)
    assert "2 of 4 questions without a verdict counted as lost" in gate.what
    [gate] = found.gates([("win_rate", 0.25)])
    assert gate.passed


def test_a_gate_without_any_verdict_fails() -> None:
    """Also one with the bound 0: nothing was compared."""
    [gate] = head(both("q1", None, None)).gates([("win_rate", 0.0)])
    assert not gate.passed
    assert "unknown" in gate.what


def test_gates_hold_each_run_against_the_first() -> None:
    """Of three runs b and c are held against a, by each criterion or the named one."""
    some = simulated({"a": 0.0, "b": 0.0, "c": 0.0}, 8, numpy.random.default_rng(2), criteria=("x", "y"))
    found = head(some, "a", "b", "c", criteria=("x", "y"))
    assert [(one.run, one.measure) for one in found.gates([("win_rate", 0.1)])] == [
        ("b", "win rate by x"),
        ("b", "win rate by y"),
        ("c", "win rate by x"),
        ("c", "win rate by y"),
    ]
    assert len(found.gates([("y", 0.1)])) == 2
    with pytest.raises(InputError, match="neither win_rate nor a criterion"):
        found.gates([("win-rate", 0.5)])
    with pytest.raises(InputError, match="between 0 and 1"):
        found.gates([("x", 1.5)])


def test_corrected_over_criteria_and_pairs() -> None:
    """Six wins of six by each of two equal criteria: 2/64 is no rarer over both, and three times that over three pairs.

    ``compare`` corrects so: max-T over measures, and Bonferroni over pairs.
    """

    def won(first: str, second: str) -> list[AnswerComparison]:
        return [
            one
            for number in range(6)
            for criterion in ("x", "y")
            for one in (
                compared(f"q{number}", first, second, "second", criterion=criterion),
                compared(f"q{number}", second, first, "first", criterion=criterion),
            )
        ]

    two = head(won("a", "b"), criteria=("x", "y"))
    assert [one.result and one.result.p_corrected for one in two.rates] == [pytest.approx(2 / 64)] * 2
    assert two.rates[0].verdict.sentence().startswith("b beats a: win rate by x 1.00 to 0.00, +1.00 [+0.75, +1.00]")
    three = head([*won("a", "b"), *won("a", "c"), *won("b", "c")], "a", "b", "c", criteria=("x", "y"))
    assert [one.result and one.result.p_corrected for one in three.rates] == [pytest.approx(6 / 64)] * 6
    assert "and 3 pairs" in (three.rates[0].verdict.why_unclear or "")


def p_values(found: HeadToHead) -> list[tuple[float, float]]:
    """Return the p-value of each win rate, and the corrected one."""
    return [(one.result.p_value, one.result.p_corrected) for one in found.rates if one.result is not None]


def test_many_questions_over_pairs() -> None:
    """Forty wins of forty: no drawn sign is as extreme, which shows 1/10,001 and no less.

    A pair alone has that p-value, corrected or not. Of three pairs each has the bound for a sum of 40 signs instead,
    3.1787 P(abs(Z) >= 40/sqrt(40)), where P(abs(Z) >= z) = erfc(z/sqrt(2)); corrected, three times that.
    """
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    some = [
        one
        for first, second in pairs
        for number in range(40)
        for one in (
            compared(f"q{number}", first, second, "second"),
            compared(f"q{number}", second, first, "first"),
        )
    ]
    alone = head(one for one in some if "c" not in (one.first, one.second))
    [figures] = p_values(alone)
    assert figures == pytest.approx((1 / 10_001, 1 / 10_001))
    bound = 3.1787 * math.erfc(math.sqrt(40 / 2))
    three = p_values(head(some, "a", "b", "c"))
    assert len(three) == 3
    assert all(one == pytest.approx((bound, 3 * bound)) for one in three)


@examples(30)
@given(
    seed=st.integers(0, 10_000),
    runs=st.sampled_from(["ab", "abc", "abcd"]),
    criteria=st.sampled_from(["x", "xy", "xyz"]),
    questions=st.integers(1, 40),
    gain=st.sampled_from([0.0, 1.0, 8.0]),
    clustered=st.booleans(),
)
def test_no_correction_lowers_a_p_value(
    seed: int, runs: str, criteria: str, questions: int, gain: float, clustered: bool
) -> None:
    """Over any pairs and criteria, few questions and many, surely better runs and equal ones, the same in JSON."""
    strengths = {run: gain * place for place, run in enumerate(runs)}
    some = simulated(strengths, questions, numpy.random.default_rng(seed), ties=-1.0, criteria=[*criteria])
    groups = QuestionClusters("group", {f"q{number}": f"g{number % 9}" for number in range(questions)})
    found = head(some, *runs, criteria=criteria, clusters=groups if clustered else None, resamples=500)
    figures = p_values(found)
    assert all(raw <= corrected <= 1 for raw, corrected in figures)
    assert [(one["p_value"], one["p_corrected"]) for one in found.as_json()["win_rates"]] == figures


def test_clusters() -> None:
    """Questions of one cluster are one unit: the interval is wider, and of one cluster there is none."""
    some = simulated({"a": 0.0, "b": 0.8}, 24, numpy.random.default_rng(3))
    groups = {f"q{number}": f"g{number % 8}" for number in range(24)}
    rate = only(head(some, clusters=QuestionClusters("group", groups)))
    assert rate.result is not None
    assert rate.result.clusters == 8
    alone = only(head(some, clusters=QuestionClusters("group", dict.fromkeys(groups, "g"))))
    assert (alone.rate.low, alone.verdict.winner) == (None, None)


def test_agreement_with_a_person() -> None:
    """The person grades b higher on q1 and q2, a on q3, both the same on q4; the judge prefers b on q1, a on q3.

    Preferred: (1 + 0 + 1)/3. Same word on q1, q3 and q4; of 4 the person says better twice, worse and equal once, the
    judge better once, worse twice, equal once: kappa (3/4 - 5/16) / (1 - 5/16) = 7/11.
    """
    some = [
        *both("q1", "second", "first"),
        *both("q2", "first", "second"),
        *both("q3", "first", "second"),
        *both("q4", "tie", "tie"),
    ]
    grades = {"a": (0.0, 0.5, 1.0, 1.0), "b": (1.0, 1.0, 0.5, 1.0)}
    persons = [
        Score(run=run, question=f"q{number}", measure="RubricGrade", value=value, grader="person")
        for run, values in grades.items()
        for number, value in enumerate(values, 1)
    ]
    [found] = head(some, persons=persons).agreement
    assert found.preferred.value == pytest.approx(2 / 3)
    assert found.kappa.value == pytest.approx(7 / 11)
    assert head(some, persons=persons[:4]).agreement == []


def covered(judges: int, questions: int) -> float:
    """Return the share of simulated judges whose interval of the win rate holds the true one.

    Strengths, place and ties are drawn, and how much better b is varies between questions. The true rate is the mean
    over that variation, by Gauss-Hermite quadrature, of b's chance to win and half of that of a tie, over both orders.
    """
    nodes, weights = numpy.polynomial.hermite_e.hermegauss(40)
    held = 0
    for number in range(judges):
        random = numpy.random.default_rng(number)
        better, place, ties, spread = random.normal(0, 0.7), random.normal(0, 1), random.normal(-1, 0.5), 0.8
        some = simulated({"a": 0.0, "b": better}, questions, random, place=place, ties=ties, spread=spread)
        true = 0.0
        for node, weight in zip(nodes, weights / weights.sum(), strict=True):
            one, two = -spread * node / 2, better + spread * node / 2
            ahead, behind = chances(two, one, place, ties), chances(one, two, place, ties)
            true += weight * (ahead[0] + ahead[2] / 2 + behind[1] + behind[2] / 2) / 2
        rate = only(head(some, seed=number, resamples=500)).rate
        assert rate.low is not None
        assert rate.high is not None
        held += rate.low <= true <= rate.high
    return held / judges


def test_intervals_of_win_rates_cover_in_a_few() -> None:
    """Of 60 judges at least 51 have an interval that holds the true win rate: fewer happen once in 10,000."""
    assert covered(60, 30) >= 51 / 60


@pytest.mark.slow
def test_intervals_of_win_rates_cover() -> None:
    """Of 1,000 judges 93% to 97% have an interval that holds the true win rate."""
    assert 0.93 <= covered(1000, 40) <= 0.97
