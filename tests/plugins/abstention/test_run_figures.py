"""Gates on F1 of abstention and on AURC: counted by hand, over failing records, repetitions and clusters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl
from tests.plugins.abstention.worlds import QUESTIONS, record, small_world


def gate(file: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of an evaluation, and the outcome of its last gate."""
    done = inside("evaluate", file, "--no-store", "--json", *options, cwd=file.parent)
    return done.code, json.loads(done.out)["gates"][-1]


def confident(folder: Path, *more: dict[str, Any]) -> Path:
    """Write a run with a confidence in each answer; return its file."""
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    records = [
        record("plain", answer="It is auth.py.", confidence=0.9),
        record("second", answer="It is cache.py.", confidence=0.9),
        record("no-path", answer="I don't know.", confidence=0.1),
        record("false-premise", answer="For speed.", abstained=False, confidence=0.2),
        *more,
    ]
    return write_jsonl(folder / "runs" / "mixed.jsonl", records)


DECLINED = [record(one, answer="I don't know.", confidence=0.1) for one in ("unsure", "failing")]


def test_f1_by_hand(tmp_path: Path) -> None:
    """Failing and silent questions without an answer count as answered: 1 of 4 is declined, and 1 that has one."""
    file = small_world(tmp_path / "world")
    # rightly 1, without an answer 4, declined 2 (no-path, second): 2 * 1 / (4 + 2).
    code, found = gate(file, "--fail-under", "AbstentionF1=0.33")
    assert (found["value"], found["n"], found["passed"]) == (1 / 3, 6, True)
    code, found = gate(file, "--fail-under", "AbstentionF1=0.4")
    assert (code, found["passed"]) == (1, False)
    assert "AbstentionF1 of 6 questions is 0.3333" in found["what"]
    assert "under 0.4" in found["what"]
    assert "doubtful in 2 answers: whether it declines is read from the words" in found["what"]
    # Where they don't count, it is the figure of `graphkit abstention`: 2 * 1 / (2 + 2).
    assert gate(file, "--missing-as", "unscored", "--fail-under", "abstentionf1=0.4")[1]["value"] == 1 / 2


def test_area_by_hand(tmp_path: Path) -> None:
    """One right and one wrong answer are equally confident, so that they share the error; a third is wrong."""
    # Risks: 1/2, (1/2 + 1/2) / 2 and 2/3.
    area = (1 / 2 + 1 / 2 + 2 / 3) / 3
    file = confident(tmp_path, *DECLINED)
    code, found = gate(file, "--fail-over", "AURC=0.6", "--min-scored", "0.1")
    assert (found["value"], found["n"]) == (pytest.approx(area), 3)
    assert json.loads(inside("abstention", file, "--json", cwd=tmp_path).out)["aurc"]["value"] == pytest.approx(area)
    code, found = gate(file, "--fail-over", "AURC=0.5", "--min-scored", "0.1")
    assert (code, found["gate"], found["passed"]) == (1, "fail-over", False)


def test_failing_and_silence_raise_the_area(tmp_path: Path) -> None:
    """A failed record, and one that says nothing, are wrong with more confidence than any other."""
    # Risks 1, 1, (2 + 1/2) / 3, 3 / 4 and 4 / 5 of two worst ones, the two with 0.9 and the wrong one.
    file = confident(tmp_path, record("unsure"), record("failing", error="timeout"))
    found = gate(file, "--fail-over", "AURC=0.5", "--min-scored", "0.1")[1]
    assert (found["value"], found["n"]) == (pytest.approx((1 + 1 + 2.5 / 3 + 3 / 4 + 4 / 5) / 5), 5)


def test_an_answer_without_a_confidence_fails(tmp_path: Path) -> None:
    """A decided answer that logs none has no place on the curve, so that the gate is red, and says so."""
    file = confident(tmp_path, *DECLINED[:1], record("failing", answer="In memory."))
    code, found = gate(file, "--fail-over", "AURC=1", "--min-scored", "0.1")
    assert (code, found["passed"], found["value"]) == (1, False, None)
    assert found["what"] == "AURC: 1 decided answer without a confidence"


def test_without_such_a_question_it_fails(tmp_path: Path) -> None:
    """F1 has no value where every question has an answer and is answered: that passes no gate."""
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS[:2])
    records = [record(one["id"], answer="It is auth.py.") for one in QUESTIONS[:2]]
    code, found = gate(write_jsonl(tmp_path / "runs" / "mixed.jsonl", records), "--fail-under", "AbstentionF1=0")
    figure = next(one for one in [found] if one["measure"] == "AbstentionF1")
    assert (code, figure["passed"]) == (1, False)
    assert "no question without an answer, and none declined" in figure["what"]


def test_repetitions_count_singly(tmp_path: Path) -> None:
    """Over two repetitions, of which one declines each question without an answer: 2 * 4 / (8 + 4)."""
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS)
    files = []
    for number, text in ((1, "I don't know."), (2, "In memory.")):
        records = [
            record(one["id"], answer=text if one.get("answerable") is False else "It is auth.py.")
            | {"run": f"sys@{number}"}
            for one in QUESTIONS
        ]
        files.append(write_jsonl(tmp_path / "runs" / f"sys@{number}.jsonl", records))
    options = ("--no-store", "--json", "--fail-under", "AbstentionF1=0.7")
    done = inside("evaluate", *files, *options, cwd=tmp_path)
    results = map(json.loads, done.out.splitlines())
    found = [one for result in results for one in result.get("gates", ()) if one["measure"] == "AbstentionF1"]
    assert done.code == 1
    assert {one["value"] for one in found} == {2 / 3}
    assert {one["n"] for one in found} == {12}


def test_the_bound_goes_with_no_other_option(tmp_path: Path) -> None:
    """A figure of a whole run has no value of a question, and no surer mean."""
    file = small_world(tmp_path / "world")
    for options in (("--fail-question", "AURC=0.1"), ("--fail-over", "AURC=0.1", "--sure")):
        done = inside("evaluate", file, "--no-store", *options, cwd=tmp_path)
        assert done.code == 2
        assert "a figure of a whole run is bounded by --fail-under or --fail-over" in done.err


def test_clusters_are_drawn_whole(tmp_path: Path) -> None:
    """Where two categories behave alike within, the interval over them is wider than that over twenty questions."""
    # In each of the categories all questions are declined, or all answered: F1 over one kind alone is 1 or 0.
    questions = [
        {"id": f"q{n}", "question": "?", "answerable": False, "why_not": "no path", "category": f"c{n % 4}"}
        for n in range(20)
    ]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    records = [record(f"q{n}", abstained=n % 4 < 2) for n in range(20)]
    file = write_jsonl(tmp_path / "runs" / "mixed.jsonl", records)
    singly = json.loads(inside("abstention", file, "--json", cwd=tmp_path).out)["f1"]
    together = json.loads(inside("abstention", file, "--json", "--cluster", "category", cwd=tmp_path).out)["f1"]
    # 10 of 20 are rightly declined: 2 * 10 / (20 + 10); of the draws of four categories 1 in 16 holds no declined one.
    assert singly["value"] == together["value"] == 2 / 3
    assert (together["low"], together["high"]) == (0, 1)
    assert 0 < singly["low"] < singly["high"] < 1
    assert together["reason"] == "the interval may be too narrow: 4 clusters, fewer than 20"
    done = inside("abstention", file, "--cluster", "session", cwd=tmp_path)
    assert done.code == 2
    assert "no question has a session" in done.err
