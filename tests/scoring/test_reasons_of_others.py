"""Reasons of the question in score files of others: they leave it out of a gate only if the dataset confirms them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.gates import fail_under
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.answer_matching import NO_GOLD_ANSWER
from graphkit.measures.edges import NO_PATH
from graphkit.measures.owners import NEITHER, NO_GOLD_CLAIMS
from graphkit.measures.unscored import NO_GOLD
from graphkit.records.unanswered import STALE
from graphkit.scoring.export import write_results
from tests.helpers.cli import inside, write_lines

#: Ways to say that a question can't be scored.
FAKED = [NO_PATH, NO_GOLD, f"{STALE}a -CALLS-> b", "no allowance (of the question)"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Ten questions, of which the last has no gold path, and a run that answers all."""
    path = {"steps": [{"source": "a:x", "relation": "CALLS", "target": "a:y"}]}
    questions = [{"id": f"q{n}", "question": "?", **({"paths": [path]} if n < 9 else {})} for n in range(10)]
    write_lines(tmp_path / "d" / "questions.jsonl", questions)
    records = [
        {"run": "r", "question_id": f"q{n}", "answer": "x", "traversal": [["a:x", "CALLS", "a:y"]]} for n in range(10)
    ]
    write_lines(tmp_path / "d" / "runs" / "r.jsonl", records)
    return tmp_path / "d" / "runs" / "r.jsonl"


def score(run: str, number: int, value: float | str, grader: str = "their-judge") -> dict[str, Any]:
    """Return a score by Groundedness, or the reason for none."""
    given = {"value": None, "reason": value} if isinstance(value, str) else {"value": value}
    return {"run": run, "question": f"q{number}", "measure": "Groundedness", "grader": grader, **given}


@pytest.mark.parametrize("reason", FAKED)
def test_a_reason_of_the_question_is_confirmed_at_a_gate(reason: str, run: Path, tmp_path: Path) -> None:
    """Of ten questions, one is left out by a reason that the file makes up: 9 x 1 and one 0 make .9, and not 1."""
    file = tmp_path / "scores.jsonl"
    write_lines(file, [score("r", n, 1.0 if n else reason) for n in range(10)])
    result = graphkit.evaluate(run, measures=["EdgeRecall"], scores=read_scores([file], Problems()))
    assert result.held("Groundedness") == pytest.approx(0.9)
    assert result.measures["Groundedness"].not_logged == 1
    [outcome] = fail_under([result], [("Groundedness", 0.95)])
    assert not outcome.passed
    assert "1 not logged as 0" in outcome.what
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--scores", file, "--fail-under", "Groundedness=0.95")
    inside(*asked, cwd=tmp_path, code=1)


def test_what_the_dataset_confirms_is_left_out(run: Path, tmp_path: Path) -> None:
    """q9 has no gold, as EdgeRecall says: its reason stands, and the mean is that of nine questions."""
    file = tmp_path / "scores.jsonl"
    write_lines(file, [score("r", n, 1.0 if n < 9 else NO_GOLD) for n in range(10)])
    result = graphkit.evaluate(run, measures=["EdgeRecall"], scores=read_scores([file], Problems()))
    assert (result.held("Groundedness"), result.measures["Groundedness"].of_question) == (1.0, 1)


@pytest.mark.parametrize("reason", FAKED)
def test_comparisons_of_score_files(reason: str, tmp_path: Path) -> None:
    """B leaves out two questions that A has 1 on: they count as 0, 10 to 8 of ten.

    A reason that graphkit gives stands, and fails the gate of stale gold if it says so.
    """
    file = tmp_path / "scores.jsonl"
    lines = [score("a", n, 1.0) for n in range(10)] + [score("b", n, 1.0 if n > 1 else reason) for n in range(10)]
    asked = ("compare", "--scores", file.name, "a", "b", "--fail-on-drop", "0.1")
    write_lines(file, lines)
    assert "Groundedness -0.2000" in inside(*asked, cwd=tmp_path, code=1).err
    found = {one.run: one for one in graphkit.summarize([file]) if one.group is None}
    assert found["b"].with_failed == pytest.approx(0.8)
    own = [{**score("c", n, reason, "graphkit"), "measure": "EdgeRecall"} for n in range(2)]
    write_lines(file, [*lines, *own])
    inside(*asked, "-m", "Groundedness", cwd=tmp_path, code=1 if reason.startswith(STALE) else 0)


def test_the_gold_confirms_what_a_judge_says_of_it(run: Path, tmp_path: Path) -> None:
    """q0 to q8 have a gold answer, q9 none. Whatever is computed, the reason stands for q9 and nobody else.

    Said of q9, nine questions make 1; said of q0, one of ten counts as 0.
    """
    questions = [json.loads(line) for line in (run.parents[1] / "questions.jsonl").read_text("utf-8").splitlines()]
    write_lines(
        run.parents[1] / "questions.jsonl",
        [one if one["id"] == "q9" else {**one, "gold_answer": "y"} for one in questions],
    )
    file = tmp_path / "scores.jsonl"
    for reason in (NO_GOLD_ANSWER, NEITHER):
        held = []
        for lacking in (9, 0):
            write_lines(file, [score("r", n, reason if n == lacking else 1.0) for n in range(10)])
            result = graphkit.evaluate(run, measures=["EdgeRecall"], scores=read_scores([file], Problems()))
            held.append((result.held("Groundedness"), result.measures["Groundedness"].of_question))
        assert held == [(1.0, 1), (pytest.approx(0.9), 0)], reason


def test_what_only_a_judge_can_say_leaves_out_at_most_a_fifth(run: Path, tmp_path: Path) -> None:
    """A judge finds no claim in two gold answers of ten, or in three: eight values are four fifths, seven aren't."""
    file = tmp_path / "scores.jsonl"
    for count, code in ((2, 0), (3, 1)):
        write_lines(file, [score("r", n, NO_GOLD_CLAIMS if n < count else 1.0) for n in range(10)])
        asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--scores", file)
        inside(*asked, "--fail-under", "Groundedness=0.95", cwd=tmp_path, code=code)


def test_exports_keep_what_was_not_confirmed(run: Path, tmp_path: Path) -> None:
    """Written and read again, the score still counts as not logged, and says who gave the reason."""
    file = tmp_path / "scores.jsonl"
    write_lines(file, [score("r", n, 1.0 if n else NO_PATH) for n in range(10)])
    result = graphkit.evaluate(run, measures=["EdgeRecall"], scores=read_scores([file], Problems()))
    write_results(tmp_path / "out.jsonl", [result])
    [first] = [
        one for one in read_scores([tmp_path / "out.jsonl"], Problems()) if one.question == "q0" and one.value is None
    ]
    said = "their-judge says 'no gold path', which the dataset doesn't confirm (not logged)"
    assert (first.grader, first.reason) == ("their-judge", said)
