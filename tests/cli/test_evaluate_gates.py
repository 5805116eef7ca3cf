"""The gates of ``graphkit evaluate``: which results end with 1, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli import ANSWERS, QUESTIONS, inside, tiny, write_lines
from tests.helpers.cli import inside as graphkit


@pytest.mark.parametrize(
    ("option", "gate", "code", "reported"),
    [
        ("--fail-under", "EdgeRecall=0.75", 0, ""),
        ("--fail-under", "EdgeRecall=0.76", 1, "r: EdgeRecall is 0.7500, under 0.76"),
        ("--fail-over", "EdgeRecall=0.75", 0, ""),
        ("--fail-over", "EdgeRecall=0.7", 1, "r: EdgeRecall is 0.7500, over 0.7"),
        # Nothing is known of commits, so Coherence has no mean: that holds no gate.
        ("--fail-under", "Coherence=0", 1, "r: Coherence was never logged (no retrieved chunk carries a commit)"),
        ("--fail-over", "Coherence=1", 1, "r: Coherence was never logged (no retrieved chunk carries a commit)"),
    ],
)
def test_gate(tmp_path: Path, option: str, gate: str, code: int, reported: str) -> None:
    """A mean on the wrong side of its gate ends with 1 and says by how much; the result is printed all the same."""
    done = inside("evaluate", "--no-store", "--json", option, gate, tiny(tmp_path), cwd=tmp_path, code=code)
    assert done.object()["run"] == "r"
    assert reported in done.err
    assert bool(done.unasked) == bool(code)


@pytest.mark.parametrize("option", ["--fail-under", "--fail-over"])
def test_a_mean_at_its_gate_holds_it(tmp_path: Path, option: str) -> None:
    """Ten questions of which each is walked by four of five edges hold a gate of 0.8, from below and from above."""
    gold = [["a:m.py#x", "CALLS", f"a:m.py#{number}"] for number in range(5)]
    questions = [{"id": f"q{number}", "question": "?", "paths": [gold]} for number in range(10)]
    answers = [{"run": "r", "question_id": one["id"], "traversal": gold[:4]} for one in questions]
    run = tiny(tmp_path, questions, answers)
    # 4/5 ten times is 8, and 8/10 is .8: neither under nor over. One edge less in all is 39/50 = .78.
    arguments = ("evaluate", "--no-store", "--json", "-m", "EdgeRecall", option, "EdgeRecall=0.8", run)
    inside(*arguments, cwd=tmp_path, code=0)
    tiny(tmp_path, questions, [{**answers[0], "traversal": gold[:3]}, *answers[1:]])
    assert ("is 0.7800, under 0.8" in inside(*arguments, cwd=tmp_path, code=None).err) == (option == "--fail-under")


def test_a_gate_shows_the_digits_that_break_it(tmp_path: Path) -> None:
    """A mean that four decimals would show as its bound is reported with more of them."""
    # EdgeRecall .75 is under .75001, and would read as .7500.
    arguments = ("evaluate", "--no-store", "--json", "--fail-over", "EdgeRecall=0.74999", tiny(tmp_path))
    assert "EdgeRecall is 0.7500, over 0.74999" in inside(*arguments, cwd=tmp_path, code=1).err
    third = [{**ANSWERS[0], "traversal": []}, ANSWERS[1], {**ANSWERS[1], "question_id": "q3"}]
    run = tiny(tmp_path, [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}], third)
    # (0 + 1 + 1) / 3 = 2/3 is under .66668, but .6667 is not.
    arguments = ("evaluate", "--no-store", "--json", "--fail-under", "EdgeRecall=0.66668", run)
    assert "EdgeRecall is 0.666666666667, under 0.66668" in inside(*arguments, cwd=tmp_path, code=1).err


def test_gate_on_a_measure_with_a_parameter(tmp_path: Path) -> None:
    """A gate's measure may have parameters of its own, and is computed though --measure doesn't name it."""
    walked = {"source": "a:m.py#x", "relation": "IMPORTS", "target": "a:m.py#w", "position": 0}
    run = tiny(tmp_path, QUESTIONS[1:], [{**ANSWERS[1], "traversal": [walked]}])
    # The only edge is walked by another relation: 0 with relations, 1 without.
    for gate, code in (("EdgeRecall=1", 1), ("EdgeRecall(relation=False)=1", 0)):
        done = inside(
            "evaluate", "--no-store", "--json", "-m", "RR", "--fail-under", gate, run, cwd=tmp_path, code=code
        )
        assert list(done.object()["measures"]) == ["RR", gate.rpartition("=")[0]]


def test_gate_takes_the_cut_off(tmp_path: Path) -> None:
    """--k also holds for a gate's measure that names no cut-off."""
    # Recall@1: q1 1 of 2, q2 1 of 1.
    done = graphkit(
        *("evaluate", "--no-store", "--json", "-m", "RR", "--k", 1, "--fail-under", "Recall=0.8", tiny(tmp_path)),
        cwd=tmp_path,
        code=1,
    )
    assert "Recall@1 is 0.7500, under 0.8" in done.err


@pytest.mark.parametrize("gate", ["EdgeRecall", "EdgeRecall=", "=0.5", "EdgeRecall=high", "EdgeRecall=nan"])
def test_gate_that_is_none(tmp_path: Path, gate: str) -> None:
    """A gate without a name or a number is a mistake of usage, found before anything is read."""
    done = inside("evaluate", "--no-store", "--fail-under", gate, "nowhere.jsonl", cwd=tmp_path, code=2)
    assert "MEASURE=VALUE" in done.err or "NAME=VALUE" in done.err
    assert repr(gate) in done.err


def test_the_gate_on_coverage(tmp_path: Path) -> None:
    """--min-scored holds the share that has a value of what could be scored: here 1 of 2, the other walk is empty."""
    run = tiny(tmp_path, answers=[ANSWERS[0], {"run": "r", "question_id": "q2", "traversal": [], "retrieved": []}])
    asked = ("evaluate", "--full", run, "--no-store")
    inside(*asked, "-m", "EdgePrecision", "--min-scored", "0.5", cwd=tmp_path, code=0)
    done = inside(*asked, "-m", "EdgePrecision", "--min-scored", "0.9", cwd=tmp_path, code=1)
    assert (
        "gate failed: r: EdgePrecision has a value on 1 of 2 questions that it could score (50%), fewer than 90%"
        in done.err
    )
    # A measure that a gate names is held, too; one that nobody named only where none was.
    inside(*asked, "--fail-under", "RR=0", "--min-scored", "0.9", cwd=tmp_path, code=0)
    done = inside(*asked, "--min-scored", "0.9", cwd=tmp_path, code=1)
    assert "EdgePrecision has a value on 1 of 2" in done.err
    assert "EdgeRecall" not in done.err
    # One of one measure alone.
    inside(*asked, "--min-scored", "EdgePrecision=0.5", cwd=tmp_path, code=0)
    inside(*asked, "--min-scored", "EdgePrecision=0.6", cwd=tmp_path, code=1)


@pytest.mark.parametrize("share", ["1.5", "-0.1", "nan"])
def test_a_share_lies_between_0_and_1(tmp_path: Path, share: str) -> None:
    """A value that isn't a share is refused before anything is scored."""
    done = inside("evaluate", tiny(tmp_path), "--no-store", f"--min-scored={share}", cwd=tmp_path, code=2)
    assert "--min-scored" in done.err
    assert done.out == ""


def test_the_gate_on_stale_gold(tmp_path: Path) -> None:
    """--fail-on-stale ends with 1 where the knowledge graph no longer holds the gold of a question, which is named."""
    run = tiny(tmp_path)
    edge = {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#w"}
    inside("evaluate", run, "--no-store", "-m", "RR", "--fail-on-stale", cwd=tmp_path, code=0)
    # The knowledge graph knows the edge of q2 only: the gold of q1 is stale.
    write_lines(tmp_path / "artifacts.jsonl", [{"id": f"a:m.py#{name}"} for name in "xw"])
    write_lines(tmp_path / "edges.jsonl", [edge])
    done = inside("evaluate", run, "--no-store", "-m", "RR", "--fail-on-stale", cwd=tmp_path, code=1)
    assert "gate failed: r: 1 of 2 questions left out, since their gold is stale: q1" in done.err
