"""Tool calls in the graph: their nodes, their queries, and their deletion with the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.rows import RESULT
from graphkit.plugins.upkeep.removal import remove_run
from graphkit.scoring.options import Engine
from tests.helpers.datasets import write_jsonl
from tests.helpers.loading import contents

A, B, C = "x:a.py", "x:b.py#f", "y:c.py"
MEASURES = ("ToolRecall", "ToolInOrder", "StepsToGold", "Redundancy", "UsedShare", "EdgeRecall")


def called(name: str, *seen: str, **more: Any) -> dict[str, Any]:
    """Return a call that showed these ids."""
    return {"name": name, "seen": list(seen), **more}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two questions that expect search, read and read, and the calls of a run.

    For q1: search shows a and b; read b again; read of c fails; read b and c, of which b again. q2 isn't logged.
    """
    steps = [{"source": A, "relation": "R", "target": B}, {"source": B, "relation": "R", "target": C}]
    expected = ["search", "read", {"name": "test", "arguments": {"deep": True}}, {"name": "search"}]
    asked: dict[str, Any] = {"question": "?", "paths": [{"steps": steps}], "expected_tool_calls": expected}
    write_jsonl(tmp_path / "d" / "questions.jsonl", [{"id": name, **asked} for name in ("q1", "q2")])
    calls = [
        called("search", A, B, arguments={"query": "</script> 'f'"}, result="r" * 5000),
        called("read", B),
        called("read", failed=True, arguments={"path": "c.py"}, result="no such file" + "!" * 300),
        called("read", B, C),
        {"name": "shell"},
    ]
    records: list[dict[str, Any]] = [
        {"question_id": "q1", "answer": "f", "tool_calls": calls},
        {"question_id": "q2", "answer": "f"},
    ]
    return write_jsonl(tmp_path / "d" / "runs" / "r.jsonl", [{"run": "r", **one} for one in records])


def test_what_is_written(empty_store: Store, run: Path) -> None:
    """Each call is in order, with its arguments as JSON and the artifacts that it showed; a long result is cut."""
    graphkit.evaluate(run, store=empty_store, measures=["StepsToGold"])
    rows = empty_store.read(
        "MATCH (a:Answer {run: 'r'})-[:CALLED]->(c:ToolCall) "
        "RETURN a.question AS question, c AS call, COLLECT { MATCH (c)-[s:SAW]->(n:Artifact) "
        "RETURN n.id ORDER BY s.place } AS seen ORDER BY c.position"
    )
    calls: list[Any] = [row["call"] for row in rows]
    assert {row["question"] for row in rows} == {"q1"}
    assert [row["seen"] for row in rows] == [[A, B], [B], [], [B, C], []]
    assert [call["name"] for call in calls] == ["search", "read", "read", "read", "shell"]
    assert [call["position"] for call in calls] == [0, 1, 2, 3, 4]
    assert [call["failed"] for call in calls] == [False, False, True, False, False]
    # Of the shell it isn't known what it showed.
    assert [call["shown"] for call in calls] == [True, True, True, True, False]
    assert json.loads(calls[0]["arguments"]) == {"query": "</script> 'f'"}
    assert len(calls[0]["result"]) == RESULT + len("...")
    logged = empty_store.read("MATCH (a:Answer) RETURN a.calls_logged AS logged ORDER BY a.question")
    assert [row["logged"] for row in logged] == [True, False]


def test_named_queries(empty_store: Store, run: Path) -> None:
    """By hand: call 3 failed; of search, read, test, search the test and the second search weren't made.

    Call 2 showed b again, 1 of 1, and call 4 b of b and c.
    """
    graphkit.evaluate(run, store=empty_store, measures=["StepsToGold"])
    (failed,) = graphkit.failures(empty_store, "r", "failed-calls")
    assert failed == {
        "question": "q1",
        "call": 3,
        "name": "read",
        "arguments": '{"path": "c.py"}',
        "result": "no such file" + "!" * 300,
    }
    assert graphkit.failures(empty_store, "r", "missed-calls") == [
        {"question": "q1", "position": 3, "name": "test", "arguments": '{"deep": true}', "called": 0},
        {"question": "q1", "position": 4, "name": "search", "arguments": None, "called": 1},
    ]
    redundant = graphkit.failures(empty_store, "r", "redundant-calls")
    assert [(row["question"], row["call"], row["name"], row["again"], row["shown"]) for row in redundant] == [
        ("q1", 2, "read", 1, 1),
        ("q1", 4, "read", 1, 2),
    ]
    for kind in ("failed-calls", "missed-calls", "redundant-calls"):
        assert graphkit.failures(empty_store, "r", kind, question="q2") == []


def test_engines_give_the_same(empty_store: Store, run: Path) -> None:
    """A run has the same values with and without a database, by either engine."""
    alone = graphkit.evaluate(run, measures=MEASURES)
    engines: tuple[Engine, ...] = ("python", "cypher")
    for engine in engines:
        kept = graphkit.evaluate(run, store=empty_store, measures=MEASURES, engine=engine)
        assert [row.values for row in kept.rows] == [row.values for row in alone.rows]


def test_calls_go_with_their_run(empty_store: Store, run: Path) -> None:
    """A run that is loaded again has only its new calls, and a removed one has none."""
    graphkit.load(empty_store, run.parent.parent)
    before = contents(empty_store)
    graphkit.evaluate(run, store=empty_store, measures=["StepsToGold"])
    write_jsonl(run, [{"run": "r", "question_id": "q1", "tool_calls": [called("look", "z:new.py")]}])
    graphkit.evaluate(run, store=empty_store, measures=["StepsToGold"])
    assert empty_store.read("MATCH (c:ToolCall) RETURN c.name AS name") == [{"name": "look"}]
    remove_run(empty_store, "r")
    assert contents(empty_store) == before
