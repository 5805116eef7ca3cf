"""Hostile queries: none changes the graph, and none runs past its limit, on both databases."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import GraphkitError
from graphkit.plugins.cypher.allowed import RefusedQueryError, check_text
from graphkit.plugins.cypher.dataset_graph import kept_graph
from graphkit.plugins.cypher.query_runs import GRACE, QueryRunner, query_runner
from tests.helpers import engines
from tests.plugins.cypher.worlds import hubs, world

HOSTILE = [json.loads(line) for line in (Path(__file__).parent / "hostile.jsonl").read_text("utf-8").splitlines()]
ENDLESS = [one["query"] for one in HOSTILE if one["kind"] == "endless"]
FORBIDDEN = [one["query"] for one in HOSTILE if one["kind"] != "endless"]

#: More digits than Python reads as a number; the server says what is wrong.
MANY_DIGITS = f"UNWIND range(1, {'9' * 5000}) AS n RETURN n"

#: Queries that only look like those: each reads, and each runs.
HARMLESS = [
    "MATCH (start:File)-[:CALLS|SET]->(n) RETURN start.id, n.set AS set LIMIT 1",
    "MATCH (n) RETURN {set: 1, create: n.delete} AS create LIMIT 1",
    "WITH 1 AS set, 2 AS merge RETURN set, merge",
    "MATCH (n:File) WHERE n.use = 'DELETE' OR n.id = 'f1' RETURN n.id",
    "MATCH (n {id: 'f1'}) // CREATE (m)\nRETURN n.id",
    "UNWIND [1] AS remove WITH remove WHERE remove > 0 RETURN remove",
    "MATCH (show {id: 'f1'})-[r]->(load) RETURN show.use, load.id",
    "RETURN date.truncate('year', date('2024-05-06')) AS d",
    "CALL db.labels() YIELD label RETURN label",
    "WITH [1, 5, 3] AS xs RETURN reduce(m = 0, x IN xs | CASE WHEN x > m THEN x ELSE m END) AS most",
    "MATCH p = (:File {id: 'f1'})-->() RETURN reduce(t = '', n IN nodes(p) | t + n.id + ' ') AS t",
    "UNWIND range(1, 3) AS i RETURN [x IN range(0, 10, 5) | x * i] AS xs",
    "MATCH (n {id: 'f1'}) CALL { WITH n MATCH (n)-->(m) RETURN m.id AS id } RETURN id",
]

TIMEOUT = 1.0


@dataclass
class Asked:
    """A runner over a graph with hubs, and what reads all that could change."""

    runner: QueryRunner
    state: Callable[[], Any]


def state_of(store: Store) -> tuple[object, ...]:
    """Return all nodes, relationships, indexes and constraints."""
    nodes = store.read("MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties")
    edges = store.read("MATCH (a)-[r]->(b) RETURN a.id AS a, type(r) AS type, properties(r) AS properties, b.id AS b")
    names = [store.read("SHOW INDEXES YIELD name RETURN name"), store.read("SHOW CONSTRAINTS YIELD name RETURN name")]
    return tuple(sorted(map(repr, rows)) for rows in (nodes, edges, *names))


@pytest.fixture(scope="module", params=engines.ENGINES)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Each database in turn with 400 files, each of which calls three."""
    folder = tmp_path_factory.mktemp("hostile")
    artifacts, edges = hubs()
    if request.param == "embedded":
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GRAPHKIT_JVM_HEAP", "256m")
            with (
                kept_graph(world(folder / "data", artifacts, edges), folder / "home", timeout=TIMEOUT) as graph,
                query_runner(graph, timeout=TIMEOUT) as runner,
            ):
                yield Asked(runner, lambda: state_of(runner.store))
        return
    settings: Settings = engines.running("neo4j", request)
    with Store.open(settings) as store:
        engines.empty(store)
        store.write("UNWIND $rows AS row CREATE (n:File) SET n = row", {"rows": artifacts})
        store.write(
            "UNWIND $rows AS row MATCH (a:File {id: row.source}) MATCH (b:File {id: row.target}) "
            "CREATE (a)-[:CALLS]->(b)",
            {"rows": edges},
        )
        with query_runner(settings, folder, timeout=TIMEOUT) as runner:
            yield Asked(runner, lambda: state_of(store))
        engines.empty(store)


def test_none_writes(asked: Asked) -> None:
    """What writes, loads files, calls procedures or is about the server is refused or invalid, and changes nothing."""
    before = asked.state()
    assert len(HOSTILE) >= 50
    outcomes = {query: asked.runner.run(query) for query in FORBIDDEN}
    assert [query for query, outcome in outcomes.items() if outcome.refused is None] == []
    assert not any(outcome.executable or outcome.rows for outcome in outcomes.values())
    assert asked.state() == before


def test_the_server_is_a_wall_of_its_own(asked: Asked) -> None:
    """Were their words not read at all, the server would still let none of them change anything."""
    before = asked.state()
    for query in (one["query"] for one in HOSTILE if one["kind"] not in ("endless", "growth")):
        try:
            asked.runner.store.query_within(query, {}, 10, lambda explained: None)
        except GraphkitError:
            continue
    assert asked.state() == before


def test_what_only_looks_so_runs(asked: Asked) -> None:
    """Names, keys, labels, texts and comments with such words are no reason to refuse a query."""
    outcomes = {query: asked.runner.run(query) for query in HARMLESS}
    assert {query: one.refused or one.error for query, one in outcomes.items() if not one.executable} == {}
    assert all(outcome.rows for outcome in outcomes.values())


@pytest.mark.slow("each takes its limit")
@pytest.mark.parametrize("query", ENDLESS)
def test_none_runs_past_its_limit(asked: Asked, query: str) -> None:
    """A query without an end is ended by the server, at its limit or for its memory, or is left at a few rows."""
    begin = time.monotonic()
    outcome = asked.runner.run(query)
    took = time.monotonic() - begin
    # Twice: the traced query of one that ends has a limit of its own, and a server that dies takes a start.
    assert took < 2 * (TIMEOUT + GRACE) + 60
    assert outcome.error is not None or outcome.truncated or outcome.seconds < TIMEOUT + GRACE
    assert asked.runner.run("MATCH (n:File) RETURN count(n)").rows == ((400,),)


@pytest.mark.parametrize("query", FORBIDDEN)
def test_refused_by_words_alone(query: str) -> None:
    """Each is refused before a server sees it."""
    with pytest.raises(RefusedQueryError):
        check_text(query)


@pytest.mark.parametrize("query", [*HARMLESS, pytest.param(MANY_DIGITS, id="digits")])
def test_not_refused_by_words(query: str) -> None:
    """None of these is."""
    check_text(query)


def test_no_thread_is_left(asked: Asked) -> None:
    """A query that ran leaves no thread behind."""
    asked.runner.run("RETURN 1 AS one")
    deadline = time.monotonic() + 5
    while left := [one for one in threading.enumerate() if one.name == "query"]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
