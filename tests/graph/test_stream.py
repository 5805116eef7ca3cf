"""Writing a stream in transactions: their size, the halves of one that the server can't take, removed artifacts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError, ServerLimitError
from graphkit.graph import stream
from graphkit.graph.queries import cypher
from graphkit.graph.stream import Artifacts, Joins, StreamWriter, Transaction
from tests.helpers.cli import write_lines
from tests.helpers.loading import contents

CREATE = "UNWIND $rows AS row CREATE (:Streamed {n: row})"


def transaction(rows: list[int]) -> Transaction:
    """Return a transaction that creates a node for each row."""
    return Transaction.of((CREATE, {"rows": rows}))


def edges(rows: list[tuple[str, str]]) -> Transaction:
    """Return a transaction that creates an edge for each pair of artifacts."""
    joins = Joins()
    placed = [{"from": joins.place(a), "to": joins.place(b), "relation": None} for a, b in rows]
    return Transaction.of(joins.statement("load/edges", placed, dataset="d", graph="streamed"))


def count(store: Store) -> object:
    """Return the number of nodes that were streamed."""
    return store.read("MATCH (n:Streamed) RETURN count(n) AS n")[0]["n"]


def test_items_are_written_in_their_order(empty_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each transaction holds the next items, and all of them are there."""
    monkeypatch.setattr(stream, "FIRST", 10)
    monkeypatch.setattr(stream, "LEAST", 10)
    batches = list(StreamWriter(empty_store, transaction).write(iter(range(100))))
    assert [item for batch in batches for item in batch] == list(range(100))
    assert len(batches[0]) == 10
    assert count(empty_store) == 100


def test_transactions_follow_the_response_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast transaction doubles the next one, a slow one halves it, within the bounds."""
    monkeypatch.setattr(stream, "FIRST", 1000)
    pace = stream._Pace()
    pace.took(1000, stream.SECONDS / 10)
    assert pace.size == 2000
    pace.took(2000, stream.SECONDS * 10)
    assert pace.size == 1000
    for _ in range(20):
        pace.took(pace.size, 100.0)
    assert pace.size == stream.LEAST
    for _ in range(20):
        pace.took(pace.size, 0.001)
    assert pace.size == stream.MOST


def test_what_is_too_much_at_once_is_written_in_halves(empty_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the server has too little memory for more than three rows, the parts of ten are 2, 3, 2 and 3."""
    write_many = empty_store.write_many

    def limited(statements: Any, *more: Any) -> None:
        if len(statements[0][1]["rows"]) > 3:
            raise ServerLimitError("the query needs more memory than the database has")
        write_many(statements, *more)

    monkeypatch.setattr(empty_store, "write_many", limited)
    batches = list(StreamWriter(empty_store, transaction).write(iter(range(10))))
    assert batches == [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]
    assert count(empty_store) == 10


def test_one_item_that_is_too_much_is_an_error(empty_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the server reaches the caller if nothing smaller is left."""

    def refused(statements: Any, *more: Any) -> None:
        raise ServerLimitError("the query needs more memory than the database has")

    monkeypatch.setattr(empty_store, "write_many", refused)
    with pytest.raises(ServerLimitError, match="more memory"):
        list(StreamWriter(empty_store, transaction).write(iter(range(4))))


def test_error_while_reading_reaches_the_caller(empty_store: Store) -> None:
    """An error of the thread that reads ahead is raised, and the thread ends."""

    def items() -> Iterator[int]:
        yield 1
        raise InputError("line 2 is wrong")

    with pytest.raises(InputError, match="line 2"):
        list(StreamWriter(empty_store, transaction).write(items()))
    assert threading.active_count() == len([one for one in threading.enumerate() if "make" not in one.name])


def test_edges_survive_the_removal_of_their_artifacts(empty_store: Store) -> None:
    """If another process removes an artifact that a load knew, the artifact is created again, and no edge is lost."""
    writer = StreamWriter(empty_store, edges, artifacts=Artifacts(empty_store, "d"))
    pairs = [("web:a#f", "api:b#g"), ("api:b#g", "api:b#g"), ("web:c#h", "web:a#f")]
    list(writer.write(iter(pairs[:1])))
    empty_store.write("MATCH (n:Artifact {id: 'web:a#f'}) DETACH DELETE n")
    list(writer.write(iter(pairs)))
    found = empty_store.read("MATCH (a)-[e:EDGE]->(b) RETURN a.id AS a, b.id AS b")
    assert sorted((row["a"], row["b"]) for row in found) == sorted(pairs)
    assert writer.created.count("web:a#f") == 2


def test_statement_joins_nothing_if_an_artifact_is_missing(empty_store: Store) -> None:
    """The statement returns fewer edges than rows, and creates none, rather than other edges."""
    empty_store.write("CREATE (:Artifact {dataset: 'd', id: 'web:b#g'})")
    rows = [{"from": 1, "to": 1, "relation": None}]
    named = {"dataset": "d", "artifacts": ["web:a#f", "web:b#g"], "rows": rows, "graph": "streamed"}
    found = empty_store.write(cypher("load/edges"), named)
    assert found == [{"joined": 0}]
    assert empty_store.read("MATCH ()-[e:EDGE]->() RETURN count(e) AS n") == [{"n": 0}]


def test_graph_does_not_depend_on_the_sizes(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk of q1 is linked to an artifact that only q2 names, also if each answer is a transaction of its own."""
    edge = {"source": "web:a.py", "relation": "CALLS", "target": "api:late.py"}
    questions = [{"id": name, "question": "What calls it?", "relevant": {"web:b.py": 1}} for name in ("q1", "q2")]
    chunk = {"run": "r", "question_id": "q1", "retrieved": [{"id": "api:late.py"}]}
    walk = {"run": "r", "question_id": "q2", "traversal": [{"path": 0, "position": 0, **edge}]}
    write_lines(tmp_path / "calls" / "questions.jsonl", questions)
    run = write_lines(tmp_path / "calls" / "runs" / "r.jsonl", [chunk, walk])
    found = []
    for size in (stream.MOST, 1):
        for bound in ("FIRST", "LEAST", "MOST"):
            monkeypatch.setattr(stream, bound, size)
        graphkit.evaluate(run, store=empty_store, measures=["Recall"])
        linked = empty_store.read("MATCH (c:Chunk)-[:OF]->(a:Artifact) RETURN c.id AS chunk, a.id AS artifact")
        assert linked == [{"chunk": "api:late.py", "artifact": "api:late.py"}]
        found.append(contents(empty_store))
        empty_store.write("MATCH (n) DETACH DELETE n")
    assert found[0] == found[1]
