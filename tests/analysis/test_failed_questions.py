"""Failed and missing questions at gates: each is the worst value of its measure, in every output."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphkit
from graphkit.analysis import gates, run_gates
from graphkit.analysis.layers import score_layers
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.unscored import NO_GOLD, Unscored
from graphkit.plugins.compare.summaries import summarize
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation
from tests.helpers.cli import Row, inside, tiny, write_lines

WALK = ["a:m.py#x", "CALLS", "a:m.py#y"]


def sixty(folder: Path, *, crashes: bool, missing: bool = False) -> Path:
    """Return a run that solves 40 of 60 questions: the first 25 hold the 20 that it doesn't, and 5 that it does.

    With ``crashes`` it raises on those 25, and with ``missing`` it has no record for them.
    """
    questions = [{"id": f"q{number:02}", "question": "?", "paths": [[WALK]]} for number in range(60)]
    answers: list[Row] = []
    for number, question in enumerate(questions):
        record: Row = {"run": "r", "question_id": question["id"], "traversal": [] if number < 20 else [WALK]}
        if number < 25 and crashes:
            record = {"run": "r", "question_id": question["id"], "error": "IndexUnreachable: no answer"}
        if number >= 25 or not missing:
            answers.append(record)
    return tiny(folder, questions, answers)


def test_a_system_that_crashes_on_hard_questions_does_not_pass(tmp_path: Path) -> None:
    """40 of 60 are solved honestly, .6667; a crash on 25 leaves 35 of 60, .5833, whatever the 35 answers are worth."""
    asked = ("evaluate", "--no-store", "--json", "-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.9")
    honest = inside(*asked, sixty(tmp_path / "honest", crashes=False), cwd=tmp_path, code=1)
    assert "EdgeRecall is 0.6667, under 0.9" in honest.err
    reported = "EdgeRecall is 0.5833 with 25 failed as 0; 1.0000 over the 35 answered, under 0.9"
    assert reported in inside(*asked, sixty(tmp_path / "crashes", crashes=True), cwd=tmp_path, code=1).err
    reported = "EdgeRecall is 0.5833 with 25 missing as 0; 1.0000 over the 35 answered, under 0.9"
    without = sixty(tmp_path / "missing", crashes=True, missing=True)
    assert reported in inside(*asked, without, cwd=tmp_path, code=1).err
    # The former behaviour can be had, and every output says so.
    done = inside(*asked, "--failed-as", "unscored", without, cwd=tmp_path, code=0)
    assert done.object()["failed_as"] == "unscored"
    assert done.object()["gates"][0]["what"] == "EdgeRecall is 1.0000 over the 35 answered; 25 missing unscored"


def test_the_cypher_engine_agrees(any_graph: object, tmp_path: Path) -> None:
    """In the graph the same questions count as failed, and those without gold are no failures there, either."""
    from tests.helpers.cli import Graph

    assert isinstance(any_graph, Graph)
    run = no_gold(tmp_path)
    names = ("EdgeRecall", "EdgePrecision", "RR", "PathPrefix", "FileRecall", "CrossRepoPrecision")
    of_engines = [
        graphkit.evaluate(run, measures=names, store=any_graph.store, engine=engine).measures
        for engine in ("python", "cypher")
    ]
    assert of_engines[0] == of_engines[1]
    # q1 and q2 have gold, q3 none: of the two that failed only q2 counts. EdgeRecall of q1 is 1.
    assert of_engines[0]["EdgeRecall"].in_words() == "0.5000 with 1 failed as 0; 1.0000 over the 1 answered"


def no_gold(folder: Path) -> Path:
    """Return a run that fails on q2, which has gold, and on q3, which has none."""
    questions: list[Row] = [
        {"id": "q1", "question": "?", "paths": [[WALK]]},
        {"id": "q2", "question": "?", "paths": [[WALK]]},
        {"id": "q3", "question": "?"},
    ]
    answers: list[Row] = [{"run": "r", "question_id": "q1", "traversal": [WALK]}]
    answers += [{"run": "r", "question_id": name, "error": "boom"} for name in ("q2", "q3")]
    return tiny(folder, questions, answers)


def test_questions_without_gold_stay_excluded(tmp_path: Path) -> None:
    """A failure on a question that no answer could be scored on costs nothing: its reason is that of the question."""
    result = graphkit.evaluate(no_gold(tmp_path), measures=["EdgeRecall"])
    assert [row.values[0] for row in result.rows] == [1.0, "failed: boom", NO_GOLD]
    assert (result.failed, result.measures["EdgeRecall"].failed) == (2, 1)
    [gate] = gates.fail_under([result], [("EdgeRecall", 0.5)])
    assert gate.passed
    assert gate.value == 0.5


def test_stale_gold_stays_excluded(tmp_path: Path) -> None:
    """A failure on a question whose gold the knowledge graph doesn't hold is counted by no gate."""
    run = no_gold(tmp_path)
    write_lines(tmp_path / "artifacts.jsonl", [{"id": "a:m.py#x"}])
    write_lines(tmp_path / "edges.jsonl", [{"source": "a:m.py#x", "relation": "IMPORTS", "target": "a:m.py#x"}])
    result = graphkit.evaluate(run, measures=["EdgeRecall"])
    assert set(result.invalid) == {"q1", "q2"}
    assert result.unanswered == 1  # q3: it has no gold that could be stale, and failed
    assert result.measures["EdgeRecall"].failed == 0


def result_of(measure: str, values: list[float | str]) -> Evaluation:
    """Return a result of one measure."""
    summary = Summary.of_values(measure, values)
    return Evaluation("r", "d", len(values), summary.failed, summary.missing, {measure: summary}, unanswered=3)


def test_less_is_better(tmp_path: Path) -> None:
    """The worst value of HallucinationRate is 1: (.1 + .1 + 1 + 1) / 4 = .55."""
    result = result_of("HallucinationRate", [0.1, 0.1, "failed: a", "failed: b"])
    [gate] = gates.fail_over([result], [("HallucinationRate", 0.2)])
    assert not gate.passed
    assert gate.value == pytest.approx(0.55)
    assert "0.5500 with 2 failed as 1; 0.1000 over the 2 answered, over 0.2" in gate.what


def test_failing_helps_no_gate_in_the_other_direction() -> None:
    """A ceiling for EdgeRecall isn't held by failing: over the answers it is 1."""
    [gate] = gates.fail_over([result_of("EdgeRecall", [1.0, "failed: a", "failed: b"])], [("EdgeRecall", 0.5)])
    assert not gate.passed
    assert gate.value == 1.0


def test_a_measure_without_a_worst_value(tmp_path: Path) -> None:
    """StepsToGold has no upper end: failures fail its gate, unless --max-failed allows them."""
    result = result_of("StepsToGold", [2.0, 4.0, "failed: a", "failed: b", "failed: c"])
    bounds = [("StepsToGold", 5.0)]
    [over] = run_gates.RunGates(over=bounds, max_failed=3).outcomes([result])[:1]
    assert over.passed
    outcomes = run_gates.RunGates(over=bounds).outcomes([result])
    assert [(one.gate, one.passed) for one in outcomes] == [("fail-over", True), ("max-failed", False)]
    assert "StepsToGold has no worst value that 3 failed could count as" in outcomes[1].what
    assert all(one.passed for one in run_gates.RunGates(over=bounds, max_failed=3).outcomes([result]))
    assert not all(one.passed for one in run_gates.RunGates(over=bounds, max_failed=2).outcomes([result]))


class Graded(Measure):
    """A measure of a user's own that expects a trace in the answer."""

    def value(self, case: Case) -> float | Unscored:
        """Return how much was walked, and raise on an answer that walked nothing."""
        assert case.answer is not None
        assert case.answer.traversal is not None
        return 1.0 / len(case.answer.traversal)


def test_a_measure_of_ones_own(tmp_path: Path) -> None:
    """A measure that raises on an empty answer counts failures as its worst value."""
    result = graphkit.evaluate(no_gold(tmp_path), measures=[Graded()])
    [summary] = result.measures.values()
    # 1 for q1, and q2 and q3 as 0, for nothing says that q3 can't be scored by it.
    assert summary.with_failed == pytest.approx(1 / 3)


def test_nothing_was_scored(tmp_path: Path) -> None:
    """If all questions failed there is no mean, and the gate isn't passed."""
    [gate] = gates.fail_under([result_of("EdgeRecall", ["failed: a", "failed: b"])], [("EdgeRecall", 0.0)])
    assert not gate.passed
    assert gate.what == "EdgeRecall was scored on no question (2 failed)"


def test_layers_and_severe_alerts_count_failures(tmp_path: Path) -> None:
    """35 answers that are all right and 25 crashes: EdgeRecall is .5833 against its target of .8, and not met."""
    result = graphkit.evaluate(sixty(tmp_path, crashes=True))
    [component] = [
        one for layer in score_layers(result).layers for one in layer.components if one.measure == "EdgeRecall"
    ]
    assert (component.mean, component.met) == (1.0, False)
    assert component.held == pytest.approx(35 / 60)
    assert component.counts == "35/60, 25 failed as 0"
    result = graphkit.evaluate(sixty(tmp_path / "again", crashes=True), failed_as="unscored")
    [component] = [
        one for layer in score_layers(result).layers for one in layer.components if one.measure == "EdgeRecall"
    ]
    assert (component.held, component.met, component.counts) == (1.0, True, "35/60")


def test_severe_by_failing(tmp_path: Path) -> None:
    """Two crashes of three leave EdgeRecall at 1/3, below its severe threshold of .5."""
    answers: list[Row] = [{"run": "r", "question_id": "q0", "traversal": [WALK]}]
    answers += [{"run": "r", "question_id": f"q{number}", "error": "boom"} for number in (1, 2)]
    questions = [{"id": f"q{number}", "question": "?", "paths": [[WALK]]} for number in range(3)]
    done = inside(
        "evaluate", "--full", tiny(tmp_path, questions, answers), "--no-store", "--fail-on-severe", cwd=tmp_path, code=1
    )
    assert "EdgeRecall is 0.3333 with 2 failed as 0; 1.0000 over the 1 answered, severe" in done.err
    assert "EdgeRecall is 0.3333 with 2 failed as 0" in done.out


def test_every_output_says_it(tmp_path: Path) -> None:
    """The scoreboard, Markdown, JSON, JUnit and the page show what failures make of the mean, and how gates ended."""
    run = sixty(tmp_path, crashes=True)
    files = [tmp_path / name for name in ("r.md", "r.json", "r.summary.json", "r.xml")]
    asked = [
        "evaluate",
        "--full",
        run,
        "--no-store",
        "-m",
        "EdgeRecall",
        "--fail-under",
        "EdgeRecall=0.9",
        "--max-failed",
        "30",
    ]
    done = inside(*asked, *itertools.chain(*(("-o", file) for file in files)), cwd=tmp_path, code=1)
    shown = r"35/60; 0\.5833 \[0\.\d+, 0\.\d+\] with 25 failed as 0"
    assert re.search(shown, done.out)
    markdown = files[0].read_text()
    assert "35/60; 0.5833 with 25 failed as 0" in markdown
    assert "gate fail-under EdgeRecall=0.9 **failed**: EdgeRecall is 0.5833 with 25 failed as 0" in markdown
    for file in files[1:3]:
        [held] = json.loads(file.read_text())["runs"]
        assert held["measures"]["EdgeRecall"]["with_failed"] == pytest.approx(35 / 60)
        under, failed = held["gates"]
        assert (under["gate"], under["measure"], under["bound"], under["passed"]) == (
            *("fail-under", "EdgeRecall", 0.9),
            False,
        )
        assert under["value"] == pytest.approx(35 / 60)
        assert (failed["gate"], failed["bound"], failed["value"], failed["passed"]) == ("max-failed", 30, 25, True)
    suite, gates = ElementTree.parse(files[3]).getroot()
    assert [(case.get("name"), len(case.findall("failure"))) for case in gates.findall("testcase")] == [
        ("fail-under EdgeRecall", 1),
        ("max-failed", 0),
    ]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("60", "0", "25")
    inside("report", run, "-o", tmp_path / "page.html", cwd=tmp_path, code=0)
    page = (tmp_path / "page.html").read_text()
    assert "35/60, 25 failed as 0" in page
    assert "A failed or missing question counts as the worst value of its measure" in page


def test_every_output_says_that_failures_are_unscored(tmp_path: Path) -> None:
    """With --failed-as unscored the scoreboard, Markdown, JSON, JUnit and the page say that failures don't count."""
    run = sixty(tmp_path, crashes=True)
    files = [tmp_path / name for name in ("r.md", "r.json", "r.xml")]
    outputs = itertools.chain(*(("-o", file) for file in files))
    done = inside("evaluate", "--full", run, "--no-store", "--failed-as", "unscored", *outputs, cwd=tmp_path, code=0)
    assert "failed, missing and unlogged questions are unscored at gates" in done.out
    assert "failed, missing and unlogged questions are unscored at gates" in files[0].read_text()
    assert json.loads(files[1].read_text())["runs"][0]["failed_as"] == "unscored"
    [suite] = ElementTree.parse(files[2]).getroot()
    assert suite.find("properties/property[@name='failed_as']").get("value") == "unscored"  # type: ignore[union-attr]
    inside("report", run, "-o", tmp_path / "page.html", "--failed-as", "unscored", cwd=tmp_path, code=0)
    assert "Failed, missing and unlogged questions are unscored at gates" in (tmp_path / "page.html").read_text()
    done = inside("evaluate", run, "--no-store", "--failed-as", "nothing", cwd=tmp_path, code=2)
    assert "'nothing' is not one of 'worst', 'failed', 'unscored', 'zero', '0'" in done.err


def test_scores_that_others_gave(tmp_path: Path) -> None:
    """A question that the run failed on, and that no judge could grade, is a failure by the judge's measure, too."""
    run = tiny(
        tmp_path,
        answers=[{"run": "r", "question_id": "q1", "answer": "x"}, {"run": "r", "question_id": "q2", "error": "boom"}],
    )
    scores = [{"run": "r", "question": "q1", "measure": "Groundedness", "value": 1.0, "grader": "j"}]
    given = write_lines(tmp_path / "given.jsonl", scores)
    asked = ("evaluate", run, "--no-store", "--scores", given, "--fail-under", "Groundedness=0.9")
    done = inside(*asked, cwd=tmp_path, code=1)
    assert "Groundedness is 0.5000 with 1 failed as 0; 1.0000 over the 1 answered, under 0.9" in done.err


def test_summaries_count_failures(tmp_path: Path) -> None:
    """The mean of 1, 1 and a failure is 1, and 2/3 with the failure as 0; so is the accuracy."""
    rows = [
        {"run": "r", "question": f"q{number}", "measure": "EdgeRecall", "value": value, "reason": reason}
        for number, (value, reason) in enumerate(((1.0, None), (1.0, None), (None, "failed: boom")))
    ]
    [summary] = summarize([write_lines(tmp_path / "s.jsonl", rows)])
    assert (summary.mean, summary.accuracy, summary.failed, summary.missing) == (1.0, 1.0, 1, 0)
    assert summary.with_failed == pytest.approx(2 / 3)
    assert summary.accuracy_with_failed == pytest.approx(2 / 3)
    done = inside("summarize", tmp_path / "s.jsonl", cwd=tmp_path, code=0)
    assert "2/3; 0.6667, accuracy 66.7% with 1 failed as the worst" in done.out
