"""Sessions in a run that was written by hand: follow-ups know what earlier turns walked, whatever reads the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.file_failures import file_failures
from graphkit.database.store import Store
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.imports.importer import import_log
from graphkit.records.structs import AnswerStruct
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl

ACROSS = "RepeatedEdges(across='turns')"
AB = {"source": "x:a", "relation": "R", "target": "y:b"}
BC = {"source": "y:b", "relation": "R", "target": "y:c"}


def world(folder: Path, records: list[dict[str, Any]] | None = None, turns: int = 2) -> Path:
    """Write a session whose turn 2 needs a -> b -> c, of which turn 1 walked a -> b; turn 2 walks b -> c and a -> b."""
    asked: list[dict[str, Any]] = [
        {"id": f"q{turn}", "question": f"{turn}?", "session": "s", "turn": turn, "paths": [{"steps": [AB]}]}
        for turn in range(1, turns + 1)
    ]
    asked[1]["paths"] = [{"steps": [AB, BC], "from_turn": 1}]
    write_jsonl(folder / "questions.jsonl", [{"id": "alone", "question": "Alone?", "paths": [{"steps": [AB]}]}, *asked])
    walked = {"q1": [AB], "q2": [BC, AB]}
    given = [{"question_id": name, "traversal": walks} for name, walks in reversed(walked.items())]
    return write_jsonl(folder / "runs" / "r.jsonl", records or [*given, {"question_id": "alone", "traversal": [AB]}])


def before(run: Path) -> dict[str, list[str] | None]:
    """Return the edges that earlier turns walked, by question, as each reader of the run gets them."""
    found = RecordReader(run, AnswerStruct, Problems())
    return {
        one.question_id: None
        if one.walked_before is None
        else [f"{step.path} {step.source}-{step.target}" for step in one.walked_before]
        for _, one in found
    }


def test_a_run_by_hand_is_scored_as_an_imported_one(tmp_path: Path, store: Store) -> None:
    """In whatever order: turn 2 repeats 1 edge of turn 1, and needs only b -> c; files, graph and an import agree."""
    run = world(tmp_path)
    assert before(run) == {"q1": None, "q2": ["1 x:a-y:b"], "alone": None}
    measures = ["EdgeRecall", ACROSS]
    by_hand = graphkit.evaluate(run, measures=measures, store=store)
    assert by_hand.question("q2").values == {"EdgeRecall": 1.0, ACROSS: 1.0}
    assert store.read("MATCH (a:Answer {run: 'r', question: 'q2'}) RETURN a.before_turns AS turns") == [{"turns": [1]}]
    made = tmp_path / "runs" / "made.jsonl"
    import_log(run, "graphkit", tmp_path, out=made, run="r")
    assert [row.values for row in graphkit.evaluate(made, measures=measures).rows] == [
        row.values for row in by_hand.rows
    ]
    # A walk that lacks what turn 2 has to walk itself: that alone is missed.
    short: list[dict[str, Any]] = [{"question_id": "q1", "traversal": [AB]}, {"question_id": "q2", "traversal": []}]
    run = world(tmp_path, [*short, {"question_id": "alone", "traversal": [AB]}])
    assert [row["target"] for row in file_failures(run, "missed-edges")] == ["y:c"]


def test_what_earlier_turns_walked_is_unknown(tmp_path: Path) -> None:
    """Not where one of them logs no walk or has no record; an empty walk is known, and what a record states stays."""
    second: dict[str, Any] = {"question_id": "q2", "traversal": [AB]}
    assert before(world(tmp_path, [second]))["q2"] is None
    assert before(world(tmp_path, [second, {"question_id": "q1", "answer": "yes"}]))["q2"] is None
    assert before(world(tmp_path, [second, {"question_id": "q1", "traversal": []}]))["q2"] == []
    stated = [{**second, "walked_before": [{**BC, "path": 1}]}, {"question_id": "q1", "traversal": [AB]}]
    assert before(world(tmp_path, stated))["q2"] == ["1 y:b-y:c"]
    third: list[dict[str, Any]] = [{"question_id": f"q{turn}", "traversal": [AB]} for turn in (3, 1)]
    assert before(world(tmp_path, third, turns=3))["q3"] is None
    whole = [*third, {"question_id": "q2", "traversal": [BC, BC]}]
    assert before(world(tmp_path, whole, turns=3)) == {
        "q1": None,
        "q2": ["1 x:a-y:b"],
        "q3": ["1 x:a-y:b", "2 y:b-y:c"],
    }


@pytest.mark.slow("it starts processes")
def test_turns_that_are_read_by_different_processes(tmp_path: Path) -> None:
    """The first turn stands at the end of 3,000 records and the second at their beginning: other batches, one value."""
    run = world(tmp_path)
    many = [f"n{number}" for number in range(3000)]
    lines = (tmp_path / "questions.jsonl").read_text().splitlines()
    more = [f'{{"id": "{name}", "question": "{name}?"}}' for name in many]
    (tmp_path / "questions.jsonl").write_text("\n".join([*lines, *more]) + "\n")
    others = [{"question_id": name, "answer": "x"} for name in many]
    write_jsonl(run, [{"question_id": "q2", "traversal": [AB]}, *others, {"question_id": "q1", "traversal": [AB]}])
    measures = graphkit.evaluate(run, measures=[ACROSS]).measures
    done = inside("evaluate", run, "--no-store", "-m", ACROSS, "--json", cwd=tmp_path, code=0).object()
    assert measures[ACROSS].mean == done["measures"][ACROSS]["mean"] == 1.0


def test_a_turn_that_is_taken_is_refused_by_every_reader(tmp_path: Path) -> None:
    """Nothing tells which of two first turns the follow-up continues; `check` calls the later one invalid, too."""
    run = world(tmp_path)
    lines = (tmp_path / "questions.jsonl").read_text()
    (tmp_path / "questions.jsonl").write_text(f'{lines}{{"id": "q9", "question": "9?", "session": "s", "turn": 1}}\n')
    taken = "turn 1 of the session 's' is already taken"
    for words in (("evaluate", run, "--no-store"), ("evaluate", run), ("report", run), ("grade", run, "--no-store")):
        assert taken in inside(*words, cwd=tmp_path, code=2).err
    assert taken in inside("check", tmp_path, cwd=tmp_path, code=1).out
    skipping = RecordReader(run, AnswerStruct, Problems("skip"))
    assert skipping.walks.keys() == {"q2"}
