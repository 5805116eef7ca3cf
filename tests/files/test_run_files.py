"""A run's file read as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from tests.helpers.cli import Row, write_lines

FIRST: Row = {"run": "r", "question_id": "q1", "answer": "one"}


def test_records_by_question(tmp_path: Path) -> None:
    """The run's name and its records come back; the questions of the dataset say which may be there."""
    file = write_lines(tmp_path / "r.jsonl", [FIRST, {"run": "r", "question_id": "q2", "error": "lost"}])
    run, answers = read_run(file, Problems(), {"q1", "q2", "q3"})
    assert (run, list(answers), answers["q1"].answer, answers["q2"].error) == ("r", ["q1", "q2"], "one", "lost")


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({**FIRST, "answer": "two"}, "the question already has a record"),
        ({**FIRST, "question_id": "q9"}, "the question id is not in the dataset"),
    ],
)
def test_records_that_can_not_be_used(second: Row, words: str, tmp_path: Path) -> None:
    """A second record of a question and one of no question are told with their line, or left out where one may."""
    file = write_lines(tmp_path / "r.jsonl", [FIRST, second])
    with pytest.raises(InputError, match=words) as told:
        read_run(file, Problems(), {"q1"})
    assert "r.jsonl:2" in str(told.value)
    skipped = Problems("skip")
    run, answers = read_run(file, skipped, {"q1"})
    assert (run, [one.answer for one in answers.values()]) == ("r", ["one"])
    assert len(skipped.left_out) == 1


def test_not_just_one_run(tmp_path: Path) -> None:
    """Records of two runs are refused by the names of both."""
    file = write_lines(tmp_path / "r.jsonl", [FIRST, {"run": "s", "question_id": "q2"}])
    with pytest.raises(InputError, match="records of 2 runs: r, s"):
        read_run(file, Problems())
