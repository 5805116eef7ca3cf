"""Rows of Cypher, the same in each format that holds them: ids by their values, edges, nodes without a neighbour."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import ImportedLog, import_log
from graphkit.records.doubts import NAMELESS, NO_NAMES, ONLY_ELEMENT_IDS
from tests.helpers.datasets import write_jsonl

Row = dict[str, Any]
Log = Callable[[list[Row], str], dict[str, Any]]

A, B, C = "web:a.ts#a", "api:b.py#b", "db:c.sql"
ELEMENTS = [f"4:8718b093-462d-48a1-90a9-c49cd235a8be:{number}" for number in (1, 2)]
MATCH = "MATCH (f)-[r]->(g) RETURN f, r, g"


def neo4j_graphrag(rows: list[Row], query: str) -> dict[str, Any]:
    """A search as graphkit's recorder writes it."""
    items = [{"content": str(row), "metadata": {"record": row}} for row in rows]
    return {"question_id": "q1", "result": {"items": items, "metadata": {"cypher": query}}}


def langchain(rows: list[Row], query: str) -> dict[str, Any]:
    """The chain of Cypher with its intermediate steps."""
    steps = [{"query": query}, {"context": rows}]
    return {"question_id": "q1", "result": {"query": "Who?", "result": "a", "intermediate_steps": steps}}


def llama_index(rows: list[Row], query: str) -> dict[str, Any]:
    """A node of TextToCypherRetriever with its raw response."""
    node = {"id_": "0f8fad5b-d9cb-469f-a165-70867728950e", "text": "", "metadata": {"query": query, "response": rows}}
    return {"question_id": "q1", "nodes": [{"node": node, "score": 1.0}]}


def messages(rows: list[Row], query: str) -> dict[str, Any]:
    """A conversation with a tool that runs Cypher."""
    call = {"id": "1", "function": {"name": "run_cypher", "arguments": json.dumps({"query": query})}}
    said = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    return {
        "question_id": "q1",
        "messages": [*said, {"role": "tool", "tool_call_id": "1", "content": json.dumps(rows)}],
    }


LIBRARIES = [neo4j_graphrag, langchain, llama_index]
in_each = pytest.mark.parametrize("log", [*LIBRARIES, messages])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """q1 over a CALLS b, b READS c."""
    edges = [(A, "CALLS", B), (B, "READS", C)]
    steps = [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in edges]
    write_jsonl(tmp_path / "data" / "questions.jsonl", [{"id": "q1", "question": "Who?", "paths": [{"steps": steps}]}])
    write_jsonl(tmp_path / "data" / "edges.jsonl", steps)
    return tmp_path / "data"


def made(data: Path, log: Log, rows: list[Row], query: str = MATCH, **options: Any) -> ImportedLog:
    """Import the log of one search."""
    return import_log(write_jsonl(data.parent / "log.jsonl", [log(rows, query)]), "auto", data, **options)


def ids(found: ImportedLog) -> list[str] | None:
    """Return the ids that the record retrieved."""
    (record,) = found.records
    return [chunk["id"] for chunk in record["retrieved"]] if "retrieved" in record else None


def walked(found: ImportedLog) -> list[tuple[str, str | None, str]] | None:
    """Return the edges that the record walked."""
    (record,) = found.records
    if "traversal" not in record:
        return None
    return [(step["source"], step.get("relation"), step["target"]) for step in record["traversal"]]


@in_each
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"function_id": A, "function_path": "a.ts"}, {"function_id": B, "function_path": "b.py"}], [A, B]),
        # Values rank with their row, those in a list behind everything.
        ([{"function_id": A, "callers": [C]}, {"function_id": B, "callers": []}], [A, B, C]),
        ([{"caller": A, "handler": B}], [A, B]),
        ([{"hit": {"function": B, "line": 7}}], [B]),
        ([{"tables": [C, "no table"]}], [C]),
        ([{"n": {"id": A}, "neighbour": B}], [A, B]),
        ([{"n": 3, "who": "nobody"}], None),
    ],
)
def test_a_value_that_is_an_id_is_one(log: Log, rows: list[Row], expected: list[str] | None, data: Path) -> None:
    """Whatever the columns are called, values that the dataset knows are retrieved, and others aren't."""
    assert ids(made(data, log, rows)) == expected


@pytest.mark.parametrize("log", LIBRARIES)
def test_rows_without_an_id_keep_their_rank(log: Log, data: Path) -> None:
    """The second of three rows names nothing: rank 2 stands for nothing, and b has rank 3."""
    found = made(data, log, [{"x": A}, {"x": "nobody"}, {"x": B}])
    assert ids(found) == [A, "(no name: 2)", B]
    assert NAMELESS in found.records[0]["doubts"]
    assert NO_NAMES in made(data, log, [{"x": "nobody"}]).records[0]["doubts"]


@in_each
@pytest.mark.parametrize(
    ("row", "query"),
    [
        ({"f.id": A, "type(r)": "CALLS", "g.id": B}, "MATCH (f:F)-[r:CALLS]->(g) RETURN f.id, type(r), g.id"),
        ({"callee": B, "how": "CALLS", "x": A}, "MATCH (f)-[r]->(g) RETURN g.id AS callee, type(r) AS how, f.id AS x"),
        ({"edge": {"source": A, "relation": "CALLS", "target": B}}, MATCH),
        ({"hops": [{"source": A, "relation": "CALLS", "target": B}]}, MATCH),
        ({"hops": [[A, "CALLS", B]]}, MATCH),
        ({"facts": [f"{A} -CALLS-> {B}"]}, MATCH),
        ({"fact": f"{A} - CALLS -> {B}"}, MATCH),
    ],
)
def test_edges_of_columns(log: Log, row: Row, query: str, data: Path) -> None:
    """a CALLS b, in columns of any name, in a map, in lists, and in texts."""
    found = made(data, log, [row], query)
    assert walked(found) == [(A, "CALLS", B)]
    assert sorted(ids(found) or []) == sorted([A, B])


@pytest.mark.parametrize("log", LIBRARIES)
def test_a_node_without_a_neighbour(log: Log, data: Path) -> None:
    """OPTIONAL MATCH gives nulls beside c, which was found, too, with the score of its row."""
    rows: list[Row] = [
        {"source": A, "relation": "CALLS", "target": B, "score": 0.75},
        {"source": C, "relation": None, "target": None, "score": 0.5},
    ]
    found = made(data, log, rows)
    (record,) = found.records
    assert [(chunk["id"], chunk["score"]) for chunk in record["retrieved"]] == [(A, 0.75), (B, 0.75), (C, 0.5)]
    assert walked(found) == [(A, "CALLS", B)]
    assert "doubts" not in record
    # Alone, it is a walk of nothing, since its columns have a place for edges.
    assert walked(made(data, log, rows[1:])) == []


@pytest.mark.parametrize("log", LIBRARIES)
def test_named_columns_drop_no_other_rows(log: Log, data: Path) -> None:
    """--columns names those of one query; rows of another one are read as ever."""
    rows: list[Row] = [{"f": A, "how": "CALLS", "g": B}, {"source": B, "relation": "READS", "target": C}, {"x": C}]
    found = made(data, log, rows, columns=("f", "how", "g"))
    assert walked(found) == [(A, "CALLS", B), (B, "READS", C)]
    assert ids(found) == [A, B, C]


@pytest.mark.parametrize("log", LIBRARIES)
def test_element_ids(log: Log, data: Path) -> None:
    """Ids of a database that the dataset doesn't know are left out with a doubt, or looked up in a table."""
    relationship: Row = {"elementId": "5:x:1", "type": "CALLS", "start": ELEMENTS[0], "end": ELEMENTS[1]}
    rows: list[Row] = [{"id": ELEMENTS[0], "r": relationship}, {"id": ELEMENTS[1]}]
    found = made(data, log, rows)
    assert (ids(found), walked(found)) == (None, None)
    assert ONLY_ELEMENT_IDS in found.records[0]["doubts"]
    found = made(data, log, rows, ids=dict(zip(ELEMENTS, (A, B), strict=True)))
    assert (ids(found), walked(found)) == ([A, B], [(A, "CALLS", B)])


@in_each
def test_the_query_is_kept(log: Log, data: Path) -> None:
    """The record holds the query as it stands in the log, with its rows; one without rows found nothing."""
    query = "```cypher\nMATCH (f {id: 'it''s'})-[r]->(g) RETURN f, r, g\n```"
    rows: list[Row] = [{"f": {"id": A}, "n": 3}, {"f": {"id": B}, "n": None}]
    (record,) = made(data, log, rows, query).records
    assert record["queries"] == [{"cypher": query, "rows": rows}]


def test_queries_of_a_conversation(data: Path) -> None:
    """Each call of a tool for Cypher is a query, in order: with its parameters, and with the database's message where
    it failed; another tool's query is none.
    """
    calls: list[tuple[str, Row]] = [
        ("run_cypher", {"query": "MATCH (n) WHERE n.id = $id RETURN n.id", "params": {"id": A}}),
        ("search", {"query": "cart"}),
        ("read_neo4j_cypher", {"query": "MATCH (n RETURN n"}),
    ]
    said: list[Row] = [{"role": "user", "content": "Who?"}]
    for number, (name, given) in enumerate(calls):
        call = {"id": str(number), "function": {"name": name, "arguments": json.dumps(given)}}
        said.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result: Row = {"role": "tool", "tool_call_id": str(number), "content": json.dumps([{"n.id": A}])}
        said.append(result if number != 2 else {**result, "content": "Invalid input 'RETURN'", "status": "error"})
    path = write_jsonl(data.parent / "log.jsonl", [{"question_id": "q1", "messages": said}])
    (record,) = import_log(path, "auto", data).records
    first, second = record["queries"]
    assert first == {"cypher": calls[0][1]["query"], "parameters": {"id": A}, "rows": [{"n.id": A}]}
    assert second == {"cypher": "MATCH (n RETURN n", "error": "Invalid input 'RETURN'"}


def test_a_refused_query_of_neo4j_graphrag(data: Path) -> None:
    """A search whose query the database refused keeps the query beside the error."""
    row = {"question_id": "q1", "result": {"items": [], "metadata": {"cypher": "MATCH (n", "error": "Invalid input"}}}
    (record,) = import_log(write_jsonl(data.parent / "log.jsonl", [row]), "auto", data).records
    assert record["queries"] == [{"cypher": "MATCH (n", "rows": [], "error": "Invalid input"}]


def test_a_chain_that_asks_again(data: Path) -> None:
    """Of a chain's two queries each has the rows that followed it; without rows they weren't logged."""
    steps = [{"query": "MATCH (n"}, {"query": MATCH}, {"context": [{"f": A}]}]
    row = {"question_id": "q1", "result": {"query": "Who?", "result": "a", "intermediate_steps": steps}}
    (record,) = import_log(write_jsonl(data.parent / "log.jsonl", [row]), "auto", data).records
    assert record["queries"] == [{"cypher": "MATCH (n"}, {"cypher": MATCH, "rows": [{"f": A}]}]
