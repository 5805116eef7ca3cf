"""Sessions in ``graphkit run``: the turns in order, what a system gets of the earlier ones, and what records keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.plugins.systems.sampling import sample
from graphkit.records.models import Question
from tests.helpers.cli import Row, inside, tiny
from tests.helpers.datasets import read_jsonl

AB, BC = ["a", "R", "b"], ["b", "R", "c"]

#: Two sessions, whose turns stand in any order, and a question by itself.
QUESTIONS: tuple[Row, ...] = (
    {"id": "s2", "question": "And then?", "session": "s", "turn": 2, "paths": [[BC]]},
    {"id": "t1", "question": "Who?", "session": "t", "turn": 1, "paths": [[AB]]},
    {"id": "alone", "question": "What?", "paths": [[AB]]},
    {"id": "s3", "question": "And?", "session": "s", "turn": 3, "paths": [[BC]]},
    {"id": "s1", "question": "Where?", "session": "s", "turn": 1, "paths": [[AB]]},
)

#: It says what it got of earlier turns; s2 fails where a file ``broken`` is.
SYSTEM = """
from pathlib import Path

WALKS = {"s1": [["a", "R", "b"]], "s2": [["a", "R", "b"], ["b", "R", "c"]], "s3": [], "t1": [], "alone": []}

def answer(question, context):
    with Path("asked").open("a") as stream:
        stream.write(question.id + "\\n")
    if question.id == "s2" and Path("broken").exists():
        raise ValueError("no")
    said = [f"{one.id} {one.turn} {made.answer or made.error_type}" for one, made in context.history]
    return {"answer": "; ".join(said) or "first", "traversal": {"triples": WALKS[question.id]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset with sessions beside a module with a system."""
    tiny(tmp_path / "data", QUESTIONS, ())
    (tmp_path / "talking.py").write_text(SYSTEM)
    return tmp_path


def asked(folder: Path, *options: object, name: str = "answer") -> dict[str, Row]:
    """Run the system, and return its records by question."""
    inside("run", "data", "--system", f"{name}=talking:answer", *options, cwd=folder)
    return {one["question_id"]: one for one in read_jsonl(folder / "data" / "runs" / f"{name}.jsonl")}


def test_turns_are_asked_in_order(folder: Path) -> None:
    """Each turn sees those before it, and its record keeps what they walked: a-b in turn 1, both edges in turn 2."""
    found = asked(folder)
    said = {"s1": "first", "s2": "s1 1 first", "s3": "s1 1 first; s2 2 s1 1 first", "t1": "first", "alone": "first"}
    assert {name: one["answer"] for name, one in found.items()} == said
    order = (folder / "asked").read_text().split()
    assert [one for one in order if one[0] == "s"] == ["s1", "s2", "s3"]
    edge = {"source": "a", "relation": "R", "target": "b"}
    third = [edge | {"path": 1}, edge | {"path": 2}, {"source": "b", "relation": "R", "target": "c", "path": 2}]
    assert found["s2"]["walked_before"] == [edge | {"path": 1}]
    assert found["s3"]["walked_before"] == third
    assert not any("walked_before" in found[name] for name in ("s1", "t1", "alone"))


def test_a_failed_turn_stops_none(folder: Path) -> None:
    """The next turn is asked and sees the failure; what the failed one walked isn't known. Then only it is left."""
    (folder / "broken").touch()
    found = asked(folder)
    assert found["s2"]["error_type"] == "ValueError"
    assert found["s3"]["answer"] == "s1 1 first; s2 2 ValueError"
    assert "walked_before" not in found["s3"]
    (folder / "broken").unlink()
    (folder / "asked").unlink()
    again = asked(folder, "--retry-failed")
    assert (folder / "asked").read_text().split() == ["s2"]
    # A second command knows the turns of the first.
    assert again["s2"]["answer"] == "s1 1 first"
    assert again["s3"] == found["s3"]


def test_a_filter_leaves_earlier_turns_as_they_are(folder: Path) -> None:
    """A picked turn sees what an earlier command asked; while turn 2 lacks a record, what turns walked isn't known."""
    first = asked(folder, "--where", "question == 's1'")
    assert [*first] == ["s1"]
    found = asked(folder, "--where", "question == 's3'")
    assert found["s3"]["answer"] == "s1 1 first"
    assert "walked_before" not in found["s3"]
    # s2 alone: the one turn before it is known.
    found = asked(folder, "--where", "question == 's2'")
    assert found["s2"]["answer"] == "s1 1 first"
    assert [one["path"] for one in found["s2"]["walked_before"]] == [1]
    assert [*found] == ["s2", "s3", "s1"]  # as in the dataset


@pytest.mark.slow("it starts two workers")
def test_workers_ask_the_same(folder: Path) -> None:
    """A session is the work of one worker, which learns from the driver what was answered."""
    one, two = asked(folder), asked(folder, "--on", "processes=2", name="workers")
    for name, record in one.items():
        measured = ("latency_ms", "run")
        assert [{key: value for key, value in each.items() if key not in measured} for each in (record, two[name])] == [
            {key: value for key, value in record.items() if key not in measured}
        ] * 2


def test_a_turn_that_is_taken_is_an_error_with_its_line(folder: Path) -> None:
    """Two questions can't be the same turn."""
    with (folder / "data" / "questions.jsonl").open("a") as stream:
        stream.write(json.dumps({**QUESTIONS[0], "id": "other"}) + "\n")
    said = inside("run", "data", "--system", "talking:answer", cwd=folder, code=2).err
    assert "questions.jsonl:6" in said
    assert "turn 2 of the session 's' is already taken" in said


def test_a_sample_takes_whole_sessions() -> None:
    """Of 10 sessions of 3 questions and 30 questions by themselves, 20 questions, or up to 2 more, are drawn."""
    made = [
        Question(id=f"s{number}-{turn}", question="?", session=f"s{number}", turn=turn)
        for number in range(10)
        for turn in (3, 1, 2)
    ]
    made += [Question(id=f"q{number}", question="?") for number in range(30)]
    for seed in range(20):
        drawn = {one.id for one in sample(made, 20, seed)}
        assert 20 <= len(drawn) <= 22
        for number in range(10):
            assert len(drawn & {f"s{number}-{turn}" for turn in (1, 2, 3)}) in (0, 3)
        assert drawn == {one.id for one in sample(made[::-1], 20, seed)}
