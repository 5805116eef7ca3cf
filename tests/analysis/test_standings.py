"""The verdict of a page, and the differences of runs to a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from graphkit.analysis.pair_verdict import judged, mirrored
from graphkit.analysis.standings import of_one, resamples_for, standings
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation, Row

Values = Sequence[float | str]


def result(run: str, **measures: Values) -> Evaluation:
    """Return the result of a run by the values of its questions."""
    count = len(next(iter(measures.values())))
    rows = tuple(Row(f"q{number}", tuple(values[number] for values in measures.values())) for number in range(count))
    summaries = {name: Summary.of_values(name, values) for name, values in measures.items()}
    return Evaluation(run, "d", count, failed=0, missing=0, measures=summaries, rows=rows, gold_hash="1")


#: Of 40 questions: 20 whole, none, and 20 whole but for two others.
HALF: Values = [1.0] * 20 + [0.0] * 20
NONE: Values = [0.0] * 40
ALIKE: Values = [1.0] * 19 + [0.0] * 20 + [1.0]


def test_the_best_run_is_compared_with_the_second() -> None:
    """Half of the questions to none: 50% and 0%, and each difference is 0 or 1, so its interval lies around .5."""
    found = standings([result("flat", EdgeRecall=NONE), result("graph", EdgeRecall=HALF)], ["EdgeRecall"])
    assert (found.headline, found.order, found.baseline, found.baselines) == ("EdgeRecall", (1, 0), 0, (0, 1))
    verdict = found.verdict()
    assert verdict.text == "graph beats flat: EdgeRecall 0.50 to 0.00"
    one = found.difference(0, 1, "EdgeRecall")
    assert one is not None
    assert one.low is not None
    assert one.high is not None
    assert (one.delta, judged(one)) == (0.5, "better")
    assert 0.3 < one.low < 0.36 < 0.64 < one.high < 0.7  # Student's t: .5 -+ 2.02 * .506 / sqrt(40) = .5 -+ .16
    assert verdict.change == f"+0.50 [+{one.low:.2f}, +{one.high:.2f}]"
    assert str(verdict) == f"{verdict.text}, {verdict.change}." == f"{found.pair(0, 1).sentence()}."
    # With the best run as the baseline, the verdict on the two is the same.
    assert str(found.verdict(1)) == str(verdict)


def test_no_clear_winner_is_said() -> None:
    """The two best share 38 of 40 values and have the same mean: nothing is clear but that the third is behind."""
    runs = [result("a", EdgeRecall=HALF), result("b", EdgeRecall=ALIKE), result("c", EdgeRecall=NONE)]
    verdict = standings(runs, ["EdgeRecall"]).verdict()
    assert verdict.text == "a and b don't clearly differ: EdgeRecall 0.50 to 0.50"
    assert verdict.change.startswith("+0.00 [-")
    assert verdict.more == "The interval may be too narrow: 2 of 40 differ, fewer than 6. Clearly behind b: c (0.00)."


def test_without_edge_recall_another_measure_decides() -> None:
    """EdgeRecall has no value in one run, so the next measure that both have is the headline."""
    runs = [
        result("a", EdgeRecall=["no traversal"] * 40, **{"nDCG@10": HALF}),
        result("b", EdgeRecall=HALF, **{"nDCG@10": NONE}),
    ]
    found = standings(runs, ["EdgeRecall", "nDCG@10"])
    assert found.headline == "nDCG@10"
    assert found.verdict().text == "a beats b: nDCG@10 0.50 to 0.00"
    assert found.difference(0, 1, "EdgeRecall") is None


def test_less_may_be_better() -> None:
    """The run with fewer hallucinations is the best, and its difference is negative."""
    runs = [result("a", HallucinationRate=HALF), result("b", HallucinationRate=NONE)]
    assert str(standings(runs, ["HallucinationRate"]).verdict()).startswith(
        "b beats a: HallucinationRate 0.00 to 0.50, -0.50 ["
    )


def test_runs_that_share_no_measure_are_not_compared() -> None:
    """Two runs without a common scored measure have no verdict but that."""
    runs = [result("a", EdgeRecall=["no"] * 2), result("b", EdgeRecall=["no"] * 2)]
    found = standings(runs, ["EdgeRecall"])
    assert (found.headline, found.baseline, found.baselines, found.differences) == (None, None, (), {})
    assert str(found.verdict()) == "2 runs can't be compared: no question has a value in all of them."


def test_too_few_questions_have_no_interval() -> None:
    """One question gives a difference of 1 and no interval."""
    runs = [result("a", EdgeRecall=[1.0]), result("b", EdgeRecall=[0.0])]
    assert str(standings(runs, ["EdgeRecall"]).verdict()) == (
        "nothing shows whether a and b differ (too few questions for an interval: 1 question): "
        "EdgeRecall 1.00 to 0.00, +1.00."
    )


def test_one_run_has_a_verdict_of_its_own() -> None:
    """The first measure with a value is what is said of a run without another."""
    verdict = standings([result("a", EdgeRecall=HALF)], ["EdgeRecall"]).verdict()
    assert verdict.text == "a walks 50% of the required edges"
    # Student's t: .5 -+ 2.02 * .506 / sqrt(40) = .34 to .66; the bootstrap may be a little wider.
    low, high = (float(end) for end in verdict.change.strip("[]").split(", "))
    assert (0.31 < low <= 0.34, 0.66 <= high < 0.69) == (True, True)
    assert str(of_one(result("a", EdgeRecall=["no"], RR=[0.25]))) == "a has RR 0.25."
    assert str(of_one(result("a", EdgeRecall=["no"]))) == "a isn't scored by any measure."


def test_a_swapped_comparison_has_the_other_sign() -> None:
    """Each pair is compared once: the other direction has the same p-values and the opposite differences."""
    found = standings([result("a", EdgeRecall=HALF), result("b", EdgeRecall=NONE)], ["EdgeRecall"])
    there, back = found.difference(0, 1, "EdgeRecall"), found.difference(1, 0, "EdgeRecall")
    assert there is not None
    assert back is not None
    assert (there.delta, back.delta, there.first, back.second) == (-0.5, 0.5, 0.5, 0.5)
    assert (there.low, there.p_corrected) == (-(back.high or 0), back.p_corrected)
    assert (there.wins, there.losses, back.wins, back.losses) == (0, 20, 20, 0)
    assert mirrored(mirrored(back)) == back


def test_many_runs_are_compared_with_one_baseline() -> None:
    """Eleven runs, the later the better: all are compared with the second best, the tenth, alone."""
    runs = [result(f"r{number:02}", EdgeRecall=[number / 10, number / 10]) for number in range(11)]
    found = standings(runs, ["EdgeRecall"])
    assert (found.order[0], found.baseline, found.baselines) == (10, 9, (9,))
    assert {base for base, _ in found.differences if base != 9} | {9} == {run for _, run in found.differences}
    assert len(found.differences) == 20


def test_many_values_take_fewer_resamples() -> None:
    """500 million draws in all: 50,000 values may take 10,000 resamples each, 100,000 half of them."""
    assert [resamples_for(values) for values in (0, 50_000, 100_000, 10_000_000)] == [10_000, 10_000, 5_000, 1_000]
