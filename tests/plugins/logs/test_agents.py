"""Agents' logs as runs: what was opened becomes a walk by the knowledge graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import ImportedLog, import_log
from tests.helpers.archives import zstandard_archive

QUESTION = {
    "id": "q1",
    "question": "Who calls f?",
    "paths": [{"steps": [{"source": "web:a.py#g", "relation": "CALLS", "target": "core:b.py#f"}]}],
}
#: g calls f, f reads c, and c is in no way beside g.
EDGES = [
    {"source": "web:a.py#g", "relation": "CALLS", "target": "core:b.py#f"},
    {"source": "core:b.py#f", "relation": "READS", "target": "core:c.py"},
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """One question, two edges."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (folder / "edges.jsonl").write_text("".join(f"{json.dumps(edge)}\n" for edge in EDGES))
    return folder


def opened(*names: dict[str, Any]) -> list[dict[str, Any]]:
    """A conversation in which tools open these, one a turn."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Who calls f?"}]
    for number, arguments in enumerate(names):
        call = {"id": f"c{number}", "function": {"name": "view", "arguments": json.dumps(arguments)}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "..."},
        ]
    return [*messages, {"role": "assistant", "content": "g does."}]


def made(tmp_path: Path, dataset: Path, value: Any, **options: Any) -> ImportedLog:
    """The run that is made of a log of one line."""
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(value) + "\n")
    return import_log(log, dataset=dataset, **options)


def walk(run: ImportedLog) -> list[tuple[str, str, str]]:
    """The edges of its only record, in order."""
    (record,) = run.records
    steps = sorted(record["traversal"], key=lambda step: step["position"])
    return [(step["source"], step["relation"], step["target"]) for step in steps]


def test_what_was_opened_is_a_walk_where_the_knowledge_graph_has_an_edge(tmp_path: Path, dataset: Path) -> None:
    """Opened: g, c (beside nothing that was opened), f (beside both, against the edge of c), and something else.

    Names are without a repository, as an agent in its checkout has them; the question is known by its text.
    """
    names = (
        {"path": "./a.py", "symbol": "g"},
        {"path": "c.py"},
        {"file_path": "b.py", "name": "f"},
        {"path": "none.py"},
    )
    run = made(tmp_path, dataset, {"messages": opened(*names)})
    assert walk(run) == [("web:a.py#g", "CALLS", "core:b.py#f"), ("core:b.py#f", "READS", "core:c.py")]
    (record,) = run.records
    assert (record["question_id"], record["answer"]) == ("q1", "g does.")
    # An agent's walk has an order, and nothing was said of retrieval.
    assert "ordered" not in record
    assert "retrieved" not in record
    assert run.figures["ids"]["known"] == 3


def test_calls_of_tools_are_recorded_with_what_they_showed(tmp_path: Path, dataset: Path) -> None:
    """In order, with arguments and results; names become ids. What a record can't hold is left out, and reported.

    c.py is known as core:c.py; the call with a number beyond 64 bits keeps its name and what it showed.
    """
    run = made(tmp_path, dataset, {"messages": opened({"path": "c.py"}, {"path": "none.py", "size": 2**70})})
    (record,) = run.records
    assert record["tool_calls"] == [
        {"name": "view", "arguments": {"path": "c.py"}, "result": "...", "seen": ["core:c.py"]},
        {"name": "view", "result": "...", "seen": ["none.py"]},
    ]
    assert run.figures["left_out"] == {"arguments that no record can hold": 1}
    assert "tool_calls" not in run.figures["unread"]
    assert "1 with tool calls" in run.summary[1]


def test_a_tool_with_an_endless_name_is_recorded(tmp_path: Path, dataset: Path) -> None:
    """The start of a name that is too long for a record is kept, with a note."""
    talk = opened({"path": "c.py"})
    talk[1]["tool_calls"][0]["function"]["name"] = "n" * 1001
    run = made(tmp_path, dataset, {"messages": talk})
    assert run.records[0]["tool_calls"][0]["name"] == "n" * 1000
    assert run.figures["left_out"] == {"ends of tool names that are too long": 1}


def test_calls_that_were_not_logged_are_not_none(tmp_path: Path, dataset: Path) -> None:
    """Without tools nothing is known of calls; with tools that nobody used there were none."""
    talk = {"messages": opened()}
    assert "tool_calls" not in made(tmp_path, dataset, talk).records[0]
    with_tools = talk | {"tools": [{"type": "function", "function": {"name": "view"}}]}
    assert made(tmp_path, dataset, with_tools).records[0]["tool_calls"] == []


def test_a_pattern_may_make_a_path_that_is_known_without_its_repository(tmp_path: Path, dataset: Path) -> None:
    """An agent's checkout lies somewhere: the pattern takes that off."""
    names = ({"path": "/testbed/a.py", "symbol": "g"}, {"path": "/testbed/b.py", "symbol": "f"})
    pattern = r"/testbed/(?P<path>[^#]+)(#(?P<symbol>.+))?"
    run = made(tmp_path, dataset, {"messages": opened(*names)}, id_pattern=pattern)
    assert walk(run) == [("web:a.py#g", "CALLS", "core:b.py#f")]
    assert "ids of names: by the pattern, and the path (2)" in run.summary


def test_nothing_logged_is_no_walk_of_nothing(tmp_path: Path, dataset: Path) -> None:
    """Without tools the traversal isn't logged; with tools that nobody used it is empty."""
    talk = {"messages": opened()}
    assert "traversal" not in made(tmp_path, dataset, talk).records[0]
    with_tools = talk | {"tools": [{"type": "function", "function": {"name": "view"}}]}
    assert made(tmp_path, dataset, with_tools).records[0]["traversal"] == []


def test_a_trajectory_and_an_archive_get_in_the_same_way(tmp_path: Path, dataset: Path) -> None:
    """Each is recognised by its content, and has the walk of the same calls."""
    arguments = ({"path": "a.py", "symbol": "g"}, {"path": "b.py", "symbol": "f"})
    calls = [
        {"tool_call_id": f"c{number}", "function_name": "view", "arguments": one}
        for number, one in enumerate(arguments)
    ]
    steps = [
        {"step_id": 1, "source": "user", "message": "Who calls f?"},
        {"step_id": 2, "source": "agent", "message": "g does.", "tool_calls": calls},
    ]
    trajectory = {"schema_version": "ATIF-v1.4", "session_id": "s-1", "agent": {"name": "a"}, "steps": steps}
    run = made(tmp_path, dataset, trajectory)
    assert run.summary[0].startswith("log.jsonl: recognised as atif")
    assert walk(run) == [("web:a.py#g", "CALLS", "core:b.py#f")]
    sample = {"id": "q1", "epoch": 1, "input": "?", "output": {}, "messages": opened(*arguments)}
    members = {"header.json": {"eval": {"model": "m"}}, "samples/q1_epoch_1.json": sample}
    log = zstandard_archive(tmp_path / "log.eval", {name: json.dumps(one).encode() for name, one in members.items()})
    run = import_log(log, dataset=dataset)
    assert run.summary[0].startswith("log.eval: recognised as inspect")
    assert walk(run) == [("web:a.py#g", "CALLS", "core:b.py#f")]


def test_rankings_get_in(tmp_path: Path, dataset: Path) -> None:
    """A TREC run and results of BEIR: what was retrieved, best first, and nothing of a walk."""
    run_file = tmp_path / "bm25.run"
    run_file.write_text("q1 Q0 web:a.py#g 1 2.5 bm25\nq1 Q0 b.py#f 2 2.5 bm25\n")
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"q1": {"web:a.py#g": 2.5, "b.py#f": 2.5}}))
    for log, name in ((run_file, "trec"), (results, "beir")):
        run = import_log(log, dataset=dataset)
        assert f"recognised as {name}" in run.summary[0]
        (record,) = run.records
        # Of equal scores the greater name comes first: "web..." before "b...".
        assert [chunk["id"] for chunk in record["retrieved"]] == ["web:a.py#g", "core:b.py#f"]
        assert "traversal" not in record
