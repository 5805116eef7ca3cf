"""Gates of a comparison: what few questions can show, plain bounds, and questions that one run failed on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from graphkit.analysis.paired import compare_pairs
from graphkit.analysis.power import detectable
from graphkit.plugins.compare.comparison_gates import ComparisonGates
from graphkit.plugins.compare.score_file_pairs import compare_scores
from graphkit.records.unanswered import MISSING
from graphkit.scoring.intervals import interval
from tests.helpers.cli import Graph, Row, inside, write_lines
from tests.helpers.crashing import crashing_run, worst

Values = Sequence[float | str | None]


def scores(folder: Path, measures: list[str], before: Values, after: Values) -> Path:
    """Write the scores of the runs a and b by some measures, the same by each; a text is a reason, None no score."""
    rows: list[Row] = []
    for run, values in (("a", before), ("b", after)):
        for measure in measures:
            for number, value in enumerate(values):
                given = {"value": None, "reason": value} if isinstance(value, str) else {"value": value}
                if value is not None:
                    rows.append({"run": run, "question": f"q{number}", "measure": measure, **given})
    return write_lines(folder / "scores.jsonl", rows)


@pytest.mark.parametrize(
    ("questions", "measures", "needed"),
    [
        # Differences of one sign are 2 of 2^n patterns: 2/8 = .25 of three, 2/32 = .063 of five, 2/64 = .031 of six.
        (3, 1, 6),
        (5, 1, 6),
        (6, 1, None),
        # Measures that all move together count as one.
        (5, 10, 6),
        (6, 10, None),
        (20, 18, None),
    ],
)
def test_a_gate_that_could_not_have_fired(tmp_path: Path, questions: int, measures: int, needed: int | None) -> None:
    """Every measure falls from 1 to 0: too few questions fail the gate, too, and say how many it takes."""
    names = [f"m{number}" for number in range(measures)]
    file = scores(tmp_path, names, [1.0] * questions, [0.0] * questions)
    done = inside("compare", "a", "b", "--scores", file, "--fail-on-regression", cwd=tmp_path, code=1)
    if needed is None:
        assert "m0 -1.0000" in done.err
        assert "significantly worse than a" in done.err
    else:
        assert f"no regression can be significant on {questions} questions" in done.err
        assert f"it needs {needed}" in done.err
        assert "--fail-on-drop 0.1" in done.err


def test_runs_without_a_difference_do_not_pass_a_blind_gate(tmp_path: Path) -> None:
    """On five questions the gate isn't passed by equal runs, either: it can't tell."""
    file = scores(tmp_path, ["m"], [1.0] * 5, [1.0] * 5)
    done = inside("compare", "a", "b", "--scores", file, "--fail-on-regression", cwd=tmp_path, code=1)
    assert "no regression can be significant on 5 questions: it needs 6" in done.err
    file = scores(tmp_path, ["m"], [1.0] * 6, [1.0] * 6)
    inside("compare", "a", "b", "--scores", file, "--fail-on-regression", cwd=tmp_path, code=0)


def test_too_few_resamples(tmp_path: Path) -> None:
    """With 100 resamples no p-value is below 1/101, which is enough for measures that move together."""
    file = scores(tmp_path, [f"m{number}" for number in range(10)], [1.0] * 20, [0.0] * 20)
    asked = ("compare", "a", "b", "--scores", file, "--json", "--fail-on-regression", "--resamples", "100")
    gates = inside(*asked, cwd=tmp_path, code=1).object()["gates"]
    assert [gate["value"] for gate in gates if gate["measure"]] == [pytest.approx(1 / 101)] * 10


def test_a_measure_that_is_blind_beside_others_is_noted(tmp_path: Path) -> None:
    """The gate can fire by m; that few can't is said, and fails nothing."""
    rows = [
        {"run": run, "question": f"q{number}", "measure": measure, "value": 1.0}
        for run in ("a", "b")
        for measure, count in (("m", 20), ("few", 4))
        for number in range(count)
    ]
    file = write_lines(tmp_path / "s.jsonl", rows)
    done = inside("compare", "a", "b", "--scores", file, "--fail-on-regression", cwd=tmp_path, code=0)
    # 2/32 = .0625 on five questions, 2/64 = .031 on six.
    assert "note: few: 4 questions can't show a significant regression, 6 can" in done.err


def test_a_plain_bound(tmp_path: Path) -> None:
    """--fail-on-drop asks for no test: .2 less is more than .1, and not more than .2."""
    file = scores(tmp_path, ["EdgeRecall"], [1.0] * 5, [1.0] * 4 + [0.0])
    asked = ("compare", "a", "b", "--scores", file, "--json", "--fail-on-drop")
    inside(*asked, "0.2", cwd=tmp_path, code=0)
    done = inside(*asked, "0.1", cwd=tmp_path, code=1)
    assert "EdgeRecall -0.2000" in done.err
    assert "worse than a by more than 0.1" in done.err
    drop = done.object()["gates"][0]
    assert (drop["gate"], drop["bound"], drop["passed"], drop["measure"]) == ("fail-on-drop", 0.1, False, "EdgeRecall")
    assert drop["value"] == pytest.approx(0.2)


@pytest.mark.parametrize("option", ["--fail-on-drop", "--rule-out-drop"])
@pytest.mark.parametrize("of", ["", "EdgeRecall="])
def test_each_of_two_bounds_is_held(tmp_path: Path, option: str, of: str) -> None:
    """A drop of .2 (of 40 questions eight lose 1) is more than .1 and less than .9: the second bound hides no first."""
    file = scores(tmp_path, ["EdgeRecall"], [1.0] * 40, [1.0] * 32 + [0.0] * 8)
    asked = ("compare", "a", "b", "--scores", file, "--json", option, f"{of}0.1", option, f"{of}0.9")
    gates = inside(*asked, cwd=tmp_path, code=1).object()["gates"]
    assert [(one["bound"], one["passed"]) for one in gates if one["gate"] == option[2:]] == [(0.1, False), (0.9, True)]


@pytest.mark.parametrize("gate", [("--fail-on-drop", "EdgePrecision=0.1"), ("--rule-out-drop", "EdgePrecision=0.1")])
def test_a_bound_on_a_lost_measure_fails_as_lost(tmp_path: Path, gate: tuple[str, str]) -> None:
    """b has no EdgePrecision at all: that is its fault, and no mistake in the name."""
    file = scores(tmp_path, ["EdgeRecall"], [1.0] * 12, [1.0] * 12)
    other = scores(tmp_path / "other", ["EdgePrecision"], [1.0] * 12, ["nothing was traversed"] * 12)
    done = inside("compare", "a", "b", "--scores", file, "--scores", other, *gate, cwd=tmp_path, code=1)
    assert "EdgePrecision is lost: a was scored on 12 questions, b on none (nothing was traversed)" in done.err
    first = ("--fail-on-regression", "--first", "EdgePrecision", "--allow-lost", "EdgePrecision")
    done = inside("compare", "a", "b", "--scores", file, "--scores", other, *first, cwd=tmp_path, code=1)
    assert "b: EdgePrecision, which alone decides, has no value in both runs" in done.err


def test_a_drop_where_less_is_better(tmp_path: Path) -> None:
    """HallucinationRate that rises by .2 is worse by .2; one that falls is better."""
    file = scores(tmp_path, ["HallucinationRate"], [0.0] * 5, [0.0] * 4 + [1.0])
    asked = ("compare", "a", "b", "--scores", file, "--fail-on-drop", "0.1")
    assert "HallucinationRate +0.2000" in inside(*asked, cwd=tmp_path, code=1).err
    file = scores(tmp_path, ["HallucinationRate"], [0.0] * 4 + [1.0], [0.0] * 5)
    inside(*asked, cwd=tmp_path, code=0)


@pytest.mark.parametrize("reason", ["failed: boom", MISSING, None])
def test_a_crash_is_a_regression(tmp_path: Path, reason: str | None) -> None:
    """b answers 35 of 60 as a does and gives nothing on 25: paired there is no difference, counted there are 25."""
    file = scores(tmp_path, ["EdgeRecall"], [1.0] * 60, [reason] * 25 + [1.0] * 35)
    compared = compare_scores([file], "a", "b")
    [paired], [judged] = compared.overall, compared.with_failed
    assert (paired.questions, paired.delta) == (35, 0.0)
    # 25 of 60 fall from 1 to 0: -25/60.
    assert (judged.questions, compared.failures(judged)) == (60, 25)
    assert judged.delta == pytest.approx(-25 / 60)
    assert [one.measure for one in compared.regressions()] == ["EdgeRecall"]
    done = inside("compare", "--full", "a", "b", "--scores", file, "--fail-on-regression", cwd=tmp_path, code=1)
    assert "EdgeRecall -0.4167" in done.err
    assert "with 25 failed as 0; +0.0000 over the 35 answered by both" in done.err
    assert "a failed question counting as the worst value" in done.out
    asked = ("compare", "--full", "a", "b", "--scores", file, "--fail-on-regression", "--failed-as", "unscored")
    done = inside(*asked, cwd=tmp_path, code=0)
    assert "Failed, missing and unlogged questions are unscored at gates" in done.out


@pytest.mark.parametrize("gates", [ComparisonGates(regression=True), ComparisonGates(drop=[(None, 0.9)])])
def test_a_share_of_values_is_a_gate_of_its_own(gates: ComparisonGates, tmp_path: Path) -> None:
    """b has claims in 10 of 20 answers: half, fewer than four fifths, which is neither a p-value nor a drop."""
    file = scores(tmp_path, ["Groundedness"], [1.0] * 20, ["no claims"] * 10 + [1.0] * 10)
    part, *others = gates.outcomes(compare_scores([file], "a", "b"))
    assert (part.name, part.value, part.passed) == ("min-scored Groundedness=0.8", 0.5, False)
    assert part.what == "Groundedness has a value on 10 of 20 questions that a was scored on, fewer than 80%"
    assert all(one.passed for one in others)


def test_the_baseline_failed(tmp_path: Path) -> None:
    """If a failed and b was scored, nothing is compared there, and a baseline of 10 of 20 is none."""
    file = scores(tmp_path, ["EdgeRecall"], ["failed: boom"] * 10 + [1.0] * 10, [1.0] * 20)
    compared = compare_scores([file], "a", "b")
    [judged] = compared.with_failed
    assert (judged.delta, judged.questions) == (0.0, 10)
    assert compared.incomplete == tuple((f"q{number}", "failed: boom") for number in range(10))
    part, regression, _ = ComparisonGates(regression=True).outcomes(compared)
    assert (part.gate, part.passed, part.value, regression.passed) == ("baseline", False, 0.5, True)
    assert part.what.startswith("the baseline answered 10 of 20; not compared: q0, q1, q2, q3, q4")
    allowed = ComparisonGates(regression=True, partial_baseline=True).outcomes(compared)
    assert all(gate.passed for gate in allowed)


def test_few_gaps_of_a_baseline_are_named(tmp_path: Path) -> None:
    """A baseline with 16 of 20 is whole enough; the four that it lacks are named."""
    file = scores(tmp_path, ["EdgeRecall"], [None] * 4 + [1.0] * 16, [1.0] * 20)
    compared = compare_scores([file], "a", "b")
    part, regression, _ = ComparisonGates(regression=True).outcomes(compared)
    assert (part.passed, regression.passed) == (True, True)
    assert part.what == "the baseline answered 16 of 20; not compared: q0, q1, q2, q3"


def test_both_failed(tmp_path: Path) -> None:
    """A question that both failed on is no pair."""
    file = scores(tmp_path, ["EdgeRecall"], ["failed: boom"] + [1.0] * 20, ["failed: boom"] + [1.0] * 20)
    [judged] = compare_scores([file], "a", "b").with_failed
    assert judged.questions == 20


def test_one_failure_counts_as_the_worst_value(tmp_path: Path) -> None:
    """One failure of 60 is a drop of 1/60, and significant by no measure; a limit of failures is a gate of its own."""
    file = scores(tmp_path, ["EdgeRecall"], [1.0] * 60, ["failed: boom"] + [1.0] * 59)
    asked = ("compare", "a", "b", "--scores", file, "--json", "--fail-on-regression")
    inside(*asked, cwd=tmp_path, code=0)
    inside(*asked, "--fail-on-drop", "0.017", cwd=tmp_path, code=0)
    inside(*asked, "--fail-on-drop", "0.016", cwd=tmp_path, code=1)
    inside(*asked, "--max-failed", "1", cwd=tmp_path, code=0)
    done = inside(*asked, "--max-failed", "0", cwd=tmp_path, code=1)
    assert "b: 1 question failed or missing, 0 allowed; ask again by `graphkit run DATASET --system NAME=" in done.err
    assert [gate["gate"] for gate in done.object()["gates"] if not gate["passed"]] == ["max-failed"]


def test_failures_without_a_worst_value(tmp_path: Path) -> None:
    """StepsToGold has no largest value that a failure could count as, so b may fail no more often than a."""
    file = scores(tmp_path, ["StepsToGold"], [3.0] * 60, ["failed: boom"] + [3.0] * 59)
    asked = ("compare", "a", "b", "--scores", file, "--fail-on-regression")
    assert "StepsToGold has no worst value" in inside(*asked, cwd=tmp_path, code=1).err
    inside(*asked, "--max-failed", "1", cwd=tmp_path, code=0)


def test_a_score_that_nobody_gave_is_no_failure(tmp_path: Path) -> None:
    """A judge that graded another sample of b's answers isn't b's failure: b has other scores of these questions."""
    rows = [
        {"run": run, "question": f"q{number}", "measure": measure, "value": 1.0}
        for run, measure, count in (("a", "Correct", 20), ("b", "Correct", 10), ("b", "EdgeRecall", 20))
        for number in range(count)
    ]
    compared = compare_scores([write_lines(tmp_path / "s.jsonl", rows)], "a", "b", measures=["Correct"])
    assert compared.failed == (0, 0)
    assert compared.with_failed == compared.overall


def test_detectable_says_nothing_where_all_differences_are_equal() -> None:
    """Equal differences have no spread, so nothing tells what could have been seen."""
    assert compare_pairs("m", [1.0] * 5, [0.0] * 5).detectable is None
    assert detectable(0.0, 5) is None


def test_an_interval_does_not_leave_what_is_possible(tmp_path: Path) -> None:
    """Two questions, one from 0 to 1 and one from 1 to 0: Student's t would reach to 12.7 x sqrt(2) / sqrt(2)."""
    low, high = interval([1.0, -1.0], span=1.0)
    assert (low, high) == (-1.0, 1.0)
    low, high = interval([1.0, -1.0])
    assert high == pytest.approx(12.706, abs=1e-3)
    file = scores(tmp_path, ["EdgeRecall"], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    [result] = compare_scores([file], "a", "b").overall
    assert (result.low, result.high) == (-1.0, 1.0)
    assert result.accuracy is not None
    assert (result.accuracy.low, result.accuracy.high) == (-100.0, 100.0)


def test_the_storefront_with_a_system_that_crashes_on_its_worst_third(any_graph: Graph, tmp_path: Path) -> None:
    """It is as good as the honest run over what it answers, and passes neither evaluate, nor compare, nor JUnit."""
    run = crashing_run(tmp_path)
    honest = run.with_name("storefront-graph.jsonl")
    name = run.stem
    asked = ("evaluate", "--json", "-m", "EdgeRecall")
    before, after = inside(*asked, honest, run, cwd=tmp_path, env=any_graph.env, code=0).objects()
    over_answers = after["measures"]["EdgeRecall"]["mean"]
    assert over_answers > before["measures"]["EdgeRecall"]["mean"]
    # All but the worst twelve and what the honest run failed on: their recall adds up to the mean times their number,
    # over every question with gold, which are those that the honest run was scored or failed on.
    summary, base = after["measures"]["EdgeRecall"], before["measures"]["EdgeRecall"]
    everyone = base["scored"] + base["failed"]
    assert summary["scored"] + summary["failed"] == everyone
    assert summary["failed"] >= len(worst())
    held = summary["mean"] * summary["scored"] / everyone
    assert summary["with_failed"] == pytest.approx(held)
    gate = f"EdgeRecall={(over_answers + held) / 2:.4f}"
    junit = tmp_path / "junit.xml"
    done = inside(*asked, run, "--fail-under", gate, "-o", junit, cwd=tmp_path, env=any_graph.env, code=1)
    assert f"{held:.4f} with {summary['failed']} failed as 0; {over_answers:.4f} over the" in done.err
    [case] = ElementTree.parse(junit).getroot().iter("failure")
    assert f"{held:.4f} with {summary['failed']} failed as 0" in str(case.get("message"))
    gated = ("compare", honest.stem, name, "-m", "EdgeRecall", "--json", "--fail-on-regression")
    done = inside(*gated, cwd=tmp_path, env=any_graph.env, code=1)
    compared = done.object()
    assert compared["failed"][name] > compared["failed"][honest.stem]
    assert {gate["gate"] for gate in compared["gates"] if not gate["passed"]} == {"max-failed"}
