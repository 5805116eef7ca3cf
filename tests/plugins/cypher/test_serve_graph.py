"""``graphkit serve-graph`` as a process, asked by the real driver and by a system that ``graphkit run`` calls."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import Neo4jError

from graphkit.plugins.cypher.dataset_graph import kept_graph
from graphkit.plugins.embedded import client
from tests.helpers.cli import COMMAND, environment, inside, write_lines
from tests.plugins.cypher.worlds import ARTIFACTS, EDGES, world

SYSTEM = """
import os, neo4j

QUERY = "MATCH (f:File)-[:WRITES]->(t:Table) RETURN f.id AS id"

def answer(question):
    account = (os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    with neo4j.GraphDatabase.driver(os.environ["NEO4J_URI"], auth=account) as driver:
        rows = [row.data() for row in driver.execute_query(QUERY, database_=os.environ["NEO4J_DATABASE"]).records]
    return {"answer": rows[0]["id"], "queries": [{"cypher": QUERY, "rows": [[row["id"]] for row in rows]}]}
"""


@contextmanager
def serving(dataset: Path, home: Path, *words: object, code: int = 0) -> Iterator[tuple[dict[str, str], int]]:
    """Serve a dataset, yield what is printed, as an environment, and the process; interrupt it at the end."""
    command = [*COMMAND, "serve-graph", str(dataset), "--data", str(home), *map(str, words)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True
    )
    try:
        assert process.stdout is not None
        account = dict(process.stdout.readline().strip().partition("=")[::2] for _ in range(4))
        yield account, process.pid
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, err
        assert "Traceback" not in out + err
        assert account["NEO4J_PASSWORD"] not in err
    finally:
        process.kill()
        process.wait()


def asked(account: dict[str, str], query: str) -> list[dict[str, object]]:
    """Return the rows of a query that the real driver asks."""
    login = (account["NEO4J_USERNAME"], account["NEO4J_PASSWORD"])
    with neo4j.GraphDatabase.driver(account["NEO4J_URI"], auth=login) as driver:
        return [row.data() for row in driver.execute_query(query, database_=account["NEO4J_DATABASE"]).records]


def test_a_system_asks_it(tmp_path: Path) -> None:
    """The printed account reads the graph and can't write, a system's run of it is scored, and Ctrl-C ends it."""
    data = world(tmp_path / "data")
    (tmp_path / "asks.py").write_text(SYSTEM)
    with serving(data, tmp_path / "home", "--timeout", "20") as (account, _):
        assert account["NEO4J_URI"].startswith("bolt://127.0.0.1:")
        labels = "MATCH (n) UNWIND labels(n) AS l RETURN l, count(*) AS n ORDER BY l"
        assert asked(account, labels) == [{"l": "File", "n": 3}, {"l": "Table", "n": 1}]
        for query in ("CREATE (n:File {id: 'new'})", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.id = 'x'"):
            with pytest.raises(Neo4jError):
                asked(account, query)
        assert asked(account, "MATCH (n) RETURN count(n) AS n") == [{"n": 4}]
        inside("run", "data", "--system", "mine=asks:answer", "-o", "runs", cwd=tmp_path, env=account, code=0)
        record = json.loads((tmp_path / "runs" / "mine.jsonl").read_text())
        assert record["answer"] == "api:orders.py"
        assert record["queries"][0]["rows"] == [["api:orders.py"]]
        folder = next((tmp_path / "home" / "graphs").glob("*/graph.json")).parent
        assert client.status(folder).running
    until = time.monotonic() + 60
    while client.status(folder).running:  # its last client has left
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow("it starts a database three times")
def test_a_port_of_choice_and_another_server_after_a_death(tmp_path: Path) -> None:
    """The port is that which is asked for, also of the server that follows a killed one."""
    data = world(tmp_path / "data")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(data, tmp_path / "home", "--port", port) as (account, _):
        assert account["NEO4J_URI"] == f"bolt://127.0.0.1:{port}"
        folder = next((tmp_path / "home" / "graphs").glob("*/graph.json")).parent
        pid = client.status(folder).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 120
        while client.status(folder).pid in (pid, None):
            assert time.monotonic() < until
            time.sleep(0.1)
        assert asked(account, "MATCH (n) RETURN count(n) AS n") == [{"n": 4}]
        words = ("serve-graph", data, "--data", tmp_path / "home", "--port", port + 1)
        done = inside(*words, cwd=tmp_path, code=2)
        assert f"the graph is already served at bolt://127.0.0.1:{port}" in done.err


def test_what_is_refused(tmp_path: Path) -> None:
    """A dataset without a graph, or with several of which none is named, or one that it hasn't."""
    home = ("--data", tmp_path / "home")
    write_lines(tmp_path / "bare" / "questions.jsonl", [{"id": "q1", "question": "Who?"}])
    assert "has no graph" in inside("serve-graph", "bare", *home, cwd=tmp_path, code=2).err
    several = world(tmp_path / "several", ARTIFACTS, EDGES, "before")
    world(several, ARTIFACTS, EDGES, "after")
    done = inside("serve-graph", several, *home, cwd=tmp_path, code=2)
    assert "has 2 graphs" in done.err
    assert "--stack; it has: after, before" in done.err
    done = inside("serve-graph", several, *home, "--stack", "befor", cwd=tmp_path, code=2)
    assert "Did you mean before?" in done.err


@pytest.mark.slow("each begins an import")
def test_a_graph_that_cannot_be_stored(tmp_path: Path) -> None:
    """A name that the database can't take and a broken record are refused, and nothing of them remains."""
    home = ("--data", tmp_path / "home")
    world(tmp_path / "comma", [{"id": "a", "kind": "File,Table"}], [])
    done = inside("serve-graph", "comma", *home, cwd=tmp_path, code=2)
    assert "the kind 'File,Table' can't be a label" in done.err
    world(tmp_path / "same", [{"id": "a", "kind": "CALLS"}], [{"source": "a", "relation": "CALLS", "target": "a"}])
    assert "both a kind and a relation" in inside("serve-graph", "same", *home, cwd=tmp_path, code=2).err
    world(tmp_path / "broken", [{"id": "a", "kind": 7}], [])
    assert "artifacts.jsonl:1" in inside("serve-graph", "broken", *home, cwd=tmp_path, code=2).err
    assert [*(tmp_path / "home" / "graphs").glob("*/graph.json")] == []


@pytest.mark.slow("three servers start")
def test_former_graphs_are_removed(tmp_path: Path) -> None:
    """A changed dataset has another graph, in place of the former one; the same one is found again."""
    data = world(tmp_path / "data", ARTIFACTS[:2], [])
    graphs = tmp_path / "home" / "graphs"
    with kept_graph(data, tmp_path / "home") as first:
        made = (first.folder / "graph.json").stat().st_ino
    with kept_graph(data, tmp_path / "home") as again:
        assert again == first
        assert (again.folder / "graph.json").stat().st_ino == made
    world(data, ARTIFACTS, EDGES)
    with kept_graph(data, tmp_path / "home") as second:
        assert [path.parent for path in graphs.glob("*/graph.json")] == [second.folder]
        assert sorted(path.name for path in graphs.iterdir()) == sorted((second.digest, f"{second.digest}.lock"))
