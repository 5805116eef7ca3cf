"""Clusters and clouds: routed addresses, bookmarks as they travel, and accounts that may call no procedure."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import graphkit
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.graph.opening import prepared
from graphkit.plugins.upkeep.removal import remove_run
from tests.helpers.cli import tiny
from tests.helpers.engines import Neo4jServer
from tests.helpers.fakebolt import bolt_server


@pytest.fixture
def routed(neo4j_server: Neo4jServer) -> Iterator[Store]:
    """A Neo4j that is reached by its routing table."""
    server = neo4j_server.settings
    assert server.uri is not None
    uri = server.uri.replace("bolt://", "neo4j://")
    with Store.open(Settings(uri, server.username, server.password, server.database)) as store:
        store.write("MATCH (n:Routed) DETACH DELETE n")
        yield store
        store.write("MATCH (n:Routed) DETACH DELETE n")


def test_each_transaction_waits_for_the_last_write(routed: Store, caplog: pytest.LogCaptureFixture) -> None:
    """Whichever way a store reads or writes, it sends the bookmark that the server gave the write before."""
    ways: dict[str, Callable[[], object]] = {
        "write": lambda: routed.write("CREATE (:Routed)"),
        "read": lambda: routed.read("MATCH (n:Routed) RETURN n"),
        "query_readonly": lambda: routed.query_readonly("MATCH (n:Routed) RETURN n"),
        "write_many": lambda: routed.write_many([("CREATE (:Routed)", {})]),
        "schema": lambda: routed.schema(["CREATE INDEX routed IF NOT EXISTS FOR (n:Routed) ON (n.x)"]),
    }
    for name, way in ways.items():
        with caplog.at_level(logging.DEBUG, "neo4j"):
            caplog.clear()
            routed.write("CREATE (:Routed)")
            given = _bookmarks(caplog, "S: SUCCESS")
            caplog.clear()
            way()
        sent = _bookmarks(caplog, "C: ")
        assert given, "the server gave no bookmark"
        assert given <= sent, name
    routed.schema(["DROP INDEX routed IF EXISTS"])


def _bookmarks(caplog: pytest.LogCaptureFixture, kind: str) -> set[str]:
    """Return the bookmarks in the messages of the driver's log that begin like this."""
    return {found for line in _lines(caplog) if kind in line for found in re.findall(r"FB:[\w+/=]+", line)}


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(
    ("code", "what", "remedy"),
    [
        ("Neo.TransientError.General.DatabaseUnavailable", "isn't available", "run the command again"),
        ("Neo.ClientError.Cluster.NotALeader", "isn't the leader", "neo4j://HOST"),
    ],
)
def test_state_of_a_cluster(code: str, what: str, remedy: str) -> None:
    """A database that isn't available, and a member that doesn't lead, are reported with a remedy."""
    with bolt_server("Neo4j/5.26.0", code) as uri, pytest.raises(DatabaseError, match=what) as caught:
        Store.open(Settings(uri))
    assert remedy in str(caught.value)


def test_server_without_routing() -> None:
    """A server that gives no routing table is named, with the address of a single server."""
    with bolt_server("Neo4j/5.26.0") as uri, pytest.raises(DatabaseError, match="no routing table") as caught:
        Store.open(Settings(uri.replace("bolt://", "neo4j://")))
    assert "bolt://HOST:7687" in str(caught.value)


@pytest.mark.newest
def test_no_procedure_is_called(store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No statement that is sent calls a procedure, or needs an administrator: Aura refuses these."""
    run = tiny(tmp_path / "data")
    with caplog.at_level(logging.DEBUG, "neo4j"):
        prepared(store)
        assert graphkit.evaluate(run, store=store, engine="cypher").questions == 2
        assert graphkit.failures(store, "r", "missed-edges")
        remove_run(store, "r")
    sent = [found for line in _lines(caplog) if (found := line.partition("C: RUN ")[2])]
    assert any("CREATE CONSTRAINT" in text for text in sent)
    assert any("MERGE" in text for text in sent)
    wanted = re.compile(r"\bCALL [a-z]|\b(dbms|apoc)\.|\bSHOW |\b(USER|ROLE|DATABASE|SERVER)S? ")
    assert [text for text in sent if wanted.search(text)] == []
