"""One list of gates: what each output holds of a gate, and how far a passed one lies on the safe side of its bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.analysis.gate_outcomes import GateOutcome
from tests.helpers.cli import Row, inside, tiny


def walked(folder: Path, counts: tuple[int | None, ...], name: str = "r") -> Path:
    """Write a run in which each question is walked by so many of its four edges; None is a failed record."""
    gold = [["a:m.py#x", "CALLS", f"a:m.py#{number}"] for number in range(4)]
    questions = [{"id": f"q{number}", "question": "?", "paths": [gold]} for number in range(len(counts))]
    answers: list[Row] = []
    for question, count in zip(questions, counts, strict=True):
        answer = {"error": "503"} if count is None else {"traversal": gold[:count]}
        answers.append({"run": name, "question_id": question["id"], **answer})
    return tiny(folder, questions, answers)


@pytest.mark.parametrize(
    ("gate", "bound", "value", "words"),
    [
        # A lower bound of .8: .8312 is .0312 above, and two decimals rounded down are .83.
        ("fail-under", 0.8, 0.8312, "0.8312, 0.0312 above; could be 0.83"),
        # .8040 would be rounded down to the bound itself.
        ("fail-under", 0.8, 0.804, "0.8040, 0.0040 above"),
        ("fail-under", 0.75, 0.75, "0.7500, at it"),
        # An upper bound of .2: rounded up, so that .0512 passes.
        ("fail-over", 0.2, 0.0512, "0.0512, 0.1488 below; could be 0.052"),
        ("fail-over", 0.2, 0.19, "0.1900, 0.0100 below; could be 0.19"),
        # A run that is better by .236 has a drop below 0, and no bound may be.
        ("fail-on-drop", 0.1, -0.236, "-0.2360, 0.3360 below; could be 0"),
        ("max-failed", 3, 1, "1, 2 below; could be 1"),
        ("max-failed", 1, 1, "1, at it"),
        ("min-scored", 0.8, 0.95, "0.9500, 0.1500 above; could be 0.95"),
    ],
)
def test_the_margin_of_a_passed_gate(gate: str, bound: float, value: float, words: str) -> None:
    """A passed gate says how far its value is from the bound, and the stricter bound that the value still passes."""
    assert str(GateOutcome(gate, "r", True, "", "EdgeRecall", bound, value).margin) == words


@pytest.mark.parametrize(
    ("gate", "passed", "value"), [("fail-under", False, 0.7), ("fail-on-regression", True, 0.9), ("x", True, 1.0)]
)
def test_gates_without_a_margin(gate: str, passed: bool, value: float) -> None:
    """A failed gate has none, and neither has one whose bound is a level, not a threshold of its value."""
    assert GateOutcome(gate, "r", passed, "", "EdgeRecall", 0.8, value).margin is None


def test_each_output_holds_the_list(tmp_path: Path) -> None:
    """JSON, the brief and the full output, Markdown and the results folder hold value, n, interval and margin."""
    pytest.importorskip("pyarrow")
    # 4/4 of three questions and 2/4 of one: .875; one more has no gold, and is left out.
    run = walked(tmp_path, (4, 4, 4, 2))
    questions = (tmp_path / "questions.jsonl").read_text().splitlines()
    questions.append(json.dumps({"id": "none", "question": "?"}))
    (tmp_path / "questions.jsonl").write_text("\n".join(questions) + "\n")
    with run.open("a") as stream:
        stream.write(json.dumps({"run": "r", "question_id": "none", "traversal": []}) + "\n")
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.8")
    [gate] = inside(*asked, "--json", cwd=tmp_path, code=0).object()["gates"]
    low, high = gate.pop("interval")
    assert 0 <= low < 0.875 < high <= 1
    assert gate == {
        "name": "fail-under EdgeRecall=0.8",
        "gate": "fail-under",
        "run": "r",
        "measure": "EdgeRecall",
        "bound": 0.8,
        "value": 0.875,
        "n": 4,
        "left_out": 1,
        "passed": True,
        "what": gate["what"],
        "margin": pytest.approx(0.075),
        "could_be": 0.87,
    }
    words = "0.8750, 0.0750 above; could be 0.87"
    out = " ".join(inside(*asked, cwd=tmp_path, code=0).out.split())
    assert f"gate fail-under EdgeRecall=0.8 passed: {words}" in out
    full = " ".join(inside(*asked, "--full", "-o", "r.md", "-o", "r.summary.json", cwd=tmp_path, code=0).out.split())
    assert f"fail-under EdgeRecall=0.8 r passed 0.875 [{low:.4f}, {high:.4f}] 4 1 {words}" in full
    assert words in (tmp_path / "r.md").read_text()
    inside(*asked, "-o", "folder", cwd=tmp_path, code=0)
    [of_file] = json.loads((tmp_path / "r.summary.json").read_text())["runs"][0]["gates"]
    [of_folder] = json.loads((tmp_path / "folder" / "summary.json").read_text())["runs"][0]["gates"]
    assert of_folder == of_file


def test_failures_are_among_n(tmp_path: Path) -> None:
    """A failed question counts as 0: the mean of .75 rests on four, and the gate on failures on all of them."""
    run = walked(tmp_path, (4, 4, 4, None))
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.7", "--max-failed", "1")
    under, failed = inside(*asked, "--json", cwd=tmp_path, code=0).object()["gates"]
    assert (under["value"], under["n"], under["left_out"]) == (0.75, 4, 0)
    assert (failed["value"], failed["n"], failed["left_out"]) == (1, 4, 0)


def test_several_green_gates(tmp_path: Path) -> None:
    """Each bound has its margin below the count; no failure of none allowed says nothing more."""
    bounds = ("--fail-under", "EdgeRecall=0.7", "--fail-over", "EdgeRecall=0.9", "--max-failed", "0")
    out = inside("evaluate", tiny(tmp_path), "--no-store", "-m", "EdgeRecall", *bounds, cwd=tmp_path, code=0).out
    lines = [line.split(maxsplit=1)[1] for line in out.splitlines() if line.startswith("gate")]
    # EdgeRecall of q1 is 1/2, of q2 1: .75.
    assert lines == [
        "3 gates passed",
        "fail-under EdgeRecall=0.7 passed: 0.7500, 0.0500 above; could be 0.75",
        "fail-over EdgeRecall=0.9 passed: 0.7500, 0.1500 below; could be 0.75",
    ]


def test_gates_of_a_comparison(tmp_path: Path) -> None:
    """The drop from 1 to .875 is .125: n are the pairs, and the interval is that of the drop."""
    before, after = walked(tmp_path / "d", (4,) * 8, "a").read_text(), walked(tmp_path / "d", (4,) * 6 + (2, 2), "b")
    first = tmp_path / "d" / "runs" / "a.jsonl"
    first.write_text(before)
    second = after.rename(after.with_name("b.jsonl"))
    asked = ("compare", first, second, "-m", "EdgeRecall", "--fail-on-drop", "0.2", "--dataset", tmp_path / "d")
    gates: list[dict[str, Any]] = inside(*asked, "--json", cwd=tmp_path, code=0).object()["gates"]
    drop = next(one for one in gates if one["gate"] == "fail-on-drop")
    assert (drop["value"], drop["n"], drop["left_out"]) == (0.125, 8, 0)
    assert drop["interval"][0] < 0.125 < drop["interval"][1]
    words = "0.1250, 0.0750 below; could be 0.13"
    assert words in inside(*asked, cwd=tmp_path, code=0).out
    assert words in " ".join(inside(*asked, "--full", cwd=tmp_path, code=0).out.split())
