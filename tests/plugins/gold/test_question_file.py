"""Adding gold to a question changes one line of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.gold.question_file import QuestionFile
from tests.helpers.cli import QUESTIONS, write_lines

STEP = {"source": "a:x", "relation": "R", "target": "a:y"}


def test_other_lines_stay(tmp_path: Path) -> None:
    """The question's line gets the path and the pin; every byte of the others stays, blank lines too."""
    lines = ['{"id" : "q0",  "question":"é?", "mine": 1}', "", json.dumps(QUESTIONS[0] | {"mine": [1]}), "  "]
    path = write_lines(tmp_path / "questions.jsonl", lines)
    file = QuestionFile(tmp_path, "Who calls z?")
    assert (file.question.id, file.number) == ("q1", 3)
    question = file.write([{"steps": [STEP]}], {"a": "sha"})
    written = path.read_text().split("\n")
    assert [written[0], written[1], *written[3:]] == [lines[0], "", "  ", ""]
    changed = json.loads(written[2])
    assert changed["mine"] == [1]
    assert changed["paths"] == [*QUESTIONS[0]["paths"], {"steps": [STEP]}]
    assert changed["commits"] == {"a": "sha"}
    assert len(question.paths) == 2


def test_other_spellings(tmp_path: Path) -> None:
    """A question with gold_paths keeps that name, and pinned commits stay."""
    row = {"query_id": "q1", "query": "?", "gold_paths": None, "commits": {"b": "old"}}
    path = write_lines(tmp_path / "questions.jsonl", [row])
    QuestionFile(tmp_path, "q1").write([{"steps": [STEP]}], {"a": "sha"})
    assert json.loads(path.read_text()) == {
        **row,
        "gold_paths": [{"steps": [STEP]}],
        "commits": {"b": "old", "a": "sha"},
    }


def test_a_new_question(tmp_path: Path) -> None:
    """A new text becomes a new question at the end, with the first free id."""
    path = write_lines(tmp_path / "questions.jsonl", QUESTIONS)
    path.write_text(path.read_text().rstrip("\n"))
    QuestionFile(tmp_path, "What is new?").write([{"steps": [STEP]}], {})
    last = json.loads(path.read_text().splitlines()[2])
    assert last == {"id": "q3", "question": "What is new?", "paths": [{"steps": [STEP]}]}
    assert QuestionFile(tmp_path, "And this?", "mine").question.id == "mine"


@pytest.mark.parametrize(
    ("asked", "new_id", "said"),
    [
        ("Twice?", None, "several questions have this text: 'q1', 'q2'"),
        ("q1", "q7", "already has the id 'q1'"),
        ("New?", "q1", "the id 'q1' is already used"),
        ("", None, "question: "),
    ],
)
def test_refused(asked: str, new_id: str | None, said: str, tmp_path: Path) -> None:
    """An ambiguous text and a used id are refused."""
    write_lines(tmp_path / "questions.jsonl", [{"id": name, "question": "Twice?"} for name in ("q1", "q2")])
    with pytest.raises(InputError, match=said):
        QuestionFile(tmp_path, asked, new_id)


def test_unusable_files(tmp_path: Path) -> None:
    """A missing, compressed or damaged file is refused, and so is invalid gold."""
    with pytest.raises(InputError, match=r"holds no questions\.jsonl"):
        QuestionFile(tmp_path, "q1")
    path = write_lines(tmp_path / "questions.jsonl.gz", [])
    with pytest.raises(InputError, match="a compressed file isn't changed"):
        QuestionFile(tmp_path, "q1")
    path.unlink()
    path = write_lines(tmp_path / "questions.jsonl", [*QUESTIONS, "{"])
    with pytest.raises(InputError, match=r"questions\.jsonl:3: not valid JSON"):
        QuestionFile(tmp_path, "q1")
    write_lines(path, QUESTIONS)
    before = path.read_bytes()
    with pytest.raises(InputError, match="can't be used"):
        QuestionFile(tmp_path, "q1").write([{"steps": [{"source": "x" * 1001, "target": "y"}]}], {})
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["questions.jsonl"]
