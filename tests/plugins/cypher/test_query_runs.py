"""Running queries of others: outcomes, ids, provenance, limits, what is kept, and the death of a server."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.plugins.cypher.dataset_graph import DatasetGraph, kept_graph
from graphkit.plugins.cypher.kept_outcomes import KeptOutcomes
from graphkit.plugins.cypher.query_runs import QueryRunner, query_runner
from graphkit.plugins.embedded import client
from tests.helpers import engines
from tests.helpers.cli import inside, write_lines
from tests.helpers.engines import Neo4jServer
from tests.plugins.cypher.worlds import ARTIFACTS, EDGES, world


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatasetGraph]:
    """The graph of the small world."""
    folder = tmp_path_factory.mktemp("runs")
    with kept_graph(world(folder / "data"), folder / "home", timeout=2.0) as kept:
        yield kept


@pytest.fixture
def runner(graph: DatasetGraph) -> Iterator[QueryRunner]:
    """A runner over it, for which nothing is kept."""
    (graph.folder / "outcomes.sqlite").unlink(missing_ok=True)
    with query_runner(graph, timeout=2.0, max_rows=5) as opened:
        yield opened


def test_a_result_and_its_walk(runner: QueryRunner) -> None:
    """Rows are plain values; nodes and edges are those that the patterns bind, by the ids of artifacts."""
    outcome = runner.run("MATCH (a:File)-[:CALLS]->(b)-[w:WRITES]->(t:Table) RETURN a.id AS a, t ORDER BY a")
    table = {"_id": "db:orders.sql", "_labels": ["Table"], "id": "db:orders.sql", "repo": "db", "kind": "Table"}
    assert outcome.columns == ("a", "t")
    assert outcome.rows == (("web:cart.ts", table), ("web:login.ts", table))
    assert (outcome.executable, outcome.ordered, outcome.truncated, outcome.error) == (True, True, False, None)
    assert outcome.nodes == ("api:orders.py", "db:orders.sql", "web:cart.ts", "web:login.ts")
    assert outcome.edges == (
        ("api:orders.py", "WRITES", "db:orders.sql"),
        ("web:cart.ts", "CALLS", "api:orders.py"),
        ("web:login.ts", "CALLS", "api:orders.py"),
    )


def test_relationships_and_paths_have_the_ids_of_their_ends(runner: QueryRunner) -> None:
    """A relationship names its ends, also within a path and a list."""
    outcome = runner.run("MATCH p = (:File {id: 'web:login.ts'})-[r]->() RETURN r, p, [r] AS rs")
    edge = {"_source": "web:login.ts", "_type": "CALLS", "_target": "api:orders.py", "since": "c1"}
    r, p, rs = outcome.rows[0]
    assert r == edge
    assert rs == [edge]
    assert [part.get("_id") for part in p] == ["web:login.ts", None, "api:orders.py"]
    assert p[1] == edge


def test_parameters(runner: QueryRunner) -> None:
    """Parameters are values, whatever they hold; one that lacks is a mistake of the query."""
    query = "MATCH (n:File) WHERE n.id = $id RETURN n.id"
    assert runner.run(query, {"id": "web:cart.ts"}).rows == (("web:cart.ts",),)
    assert runner.run(query, {"id": "x' OR true //"}).rows == ()
    assert runner.run(query).rows == ()  # ArcadeDB takes a parameter that lacks for null


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("MATCH (n:File RETURN n", "Syntax error"),
        ("MATCH (n) RETURN m", "m"),
        ("", "empty"),
        ("  \n", "empty"),
        ("```cypher\nMATCH (n) RETURN n\n```", "Syntax error"),
        ("Here is the query you asked for.", "Syntax error"),
    ],
)
def test_what_is_not_valid(runner: QueryRunner, query: str, error: str) -> None:
    """A query that isn't valid has an error of one line and no walk, which isn't an empty one."""
    outcome = runner.run(query)
    assert (outcome.executable, outcome.refused, outcome.nodes, outcome.rows) == (False, None, None, ())
    assert outcome.error is not None
    assert error in outcome.error
    assert "\n" not in outcome.error


def test_rows_have_a_limit(runner: QueryRunner) -> None:
    """More rows than are kept are said to be more, and then the walk isn't known."""
    outcome = runner.run("UNWIND range(1, 6) AS i RETURN i")
    assert (len(outcome.rows), outcome.truncated, outcome.nodes) == (5, True, None)
    assert outcome.untraced == "its result has more than 5 rows"
    assert not runner.run("UNWIND range(1, 5) AS i RETURN i").truncated


def test_the_embedded_server_ends_a_query(runner: QueryRunner) -> None:
    """At its limit a query is ended, and its server goes on."""
    address = runner.store.uri
    outcome = runner.run("UNWIND range(1, 1000000) AS i UNWIND range(1, 1000000) AS j RETURN sum(i * j)")
    assert outcome.error == "the server stopped the query because it took too long"
    assert runner.run("RETURN 1 AS one").rows == ((1,),)
    assert runner.store.uri == address


def test_an_outcome_is_kept(graph: DatasetGraph, runner: QueryRunner) -> None:
    """The same query of the same graph isn't asked again, by another runner either; other parameters are."""
    query = "MATCH (n:File {id: $id}) RETURN n.id, 0.1 + 0.2 AS x, null AS y"
    first = runner.run(query, {"id": "web:cart.ts"})
    assert first.rows == (("web:cart.ts", 0.1 + 0.2, None),)
    assert runner.run(query, {"id": "web:login.ts"}).rows[0][0] == "web:login.ts"
    with query_runner(graph, timeout=2.0, max_rows=5) as other:
        assert other.run(query, {"id": "web:cart.ts"}) == first  # the seconds, too: it didn't run
    with query_runner(graph, timeout=2.0, max_rows=4) as other:
        assert dataclasses.replace(other.run(query, {"id": "web:cart.ts"}), seconds=first.seconds) == first


def test_a_file_of_outcomes_may_break(graph: DatasetGraph) -> None:
    """A file that is no database, or holds what can't be read, is as good as none."""
    file = graph.folder / "outcomes.sqlite"
    file.write_bytes(b"no database" * 1000)
    with query_runner(graph, timeout=2.0) as runner:
        assert runner.run("RETURN 1 AS one").rows == ((1,),)
        kept = KeptOutcomes(file, graph.digest)
        assert kept._rows is not None
        kept._rows.execute("UPDATE kept SET outcome = ?", (b"\xff\x00",))
        kept.close()
        assert runner.run("RETURN 1 AS one").rows == ((1,),)


@pytest.mark.slow("a server starts anew")
def test_a_dead_server_is_started_again(graph: DatasetGraph, runner: QueryRunner) -> None:
    """A query after the death of the server is answered by the next one."""
    pid = client.status(graph.folder).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    outcome = runner.run("MATCH (n:Table) RETURN n.id")
    assert outcome.rows == (("db:orders.sql",),)
    assert outcome.nodes == ("db:orders.sql",)
    assert client.status(graph.folder).pid != pid


@pytest.mark.slow("a server starts anew")
def test_a_dying_server_is_started_again(
    graph: DatasetGraph, runner: QueryRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that has dropped its connections may still run for a moment: it looks alive when it is first asked."""
    pid = client.status(graph.folder).pid
    assert pid is not None
    seen: list[bool] = []
    serves = DatasetGraph.serves

    def late(self: DatasetGraph, store: Store) -> bool:
        seen.append(serves(self, store))
        return len(seen) == 1 or seen[-1]

    os.kill(pid, signal.SIGKILL)
    monkeypatch.setattr(DatasetGraph, "serves", late)
    assert runner.run("MATCH (n:Table) RETURN n.id, 1 AS dying").rows == (("db:orders.sql", 1),)
    assert seen[0] is False


@pytest.mark.slow("a server starts anew")
def test_a_server_that_ends_no_query_is_ended(
    graph: DatasetGraph, runner: QueryRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query that the server doesn't end is abandoned with the server, and the next one is answered."""
    monkeypatch.setattr("graphkit.plugins.cypher.query_runs.GRACE", 0.2)
    pid = client.status(graph.folder).pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    outcome = runner.run("MATCH (n) RETURN count(n)")
    assert outcome.error == "the server didn't end the query within 2 seconds"
    monkeypatch.setattr("graphkit.plugins.cypher.query_runs.GRACE", 60)  # a new server may be slow at first
    assert runner.run("MATCH (n) RETURN count(*)").rows == ((4,),)


def test_ids_of_a_graph_of_ones_own(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    """A node's id is a property of choice; without it the database's own."""
    with Store.open(neo4j_server.settings) as store:
        engines.empty(store)
        store.write("CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {age: 3})")
    with query_runner(neo4j_server.settings, tmp_path, id_property="name") as runner:
        outcome = runner.run("MATCH (a)-[:KNOWS]->(b) RETURN elementId(b)")
        own = outcome.rows[0][0]
        assert outcome.nodes == tuple(sorted(("Ann", own)))
        assert outcome.edges == (("Ann", "KNOWS", own),)


def test_a_changed_graph_is_asked_again(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    """What is kept of a server's graph counts until the next write."""
    settings = neo4j_server.settings
    with Store.open(settings) as store, query_runner(settings, tmp_path) as runner:
        engines.empty(store)
        store.write("CREATE (:Person {id: 'a'})")
        first = runner.run("MATCH (n:Person) RETURN n.id ORDER BY n.id")
        assert first.rows == (("a",),)
        assert runner.run("MATCH (n:Person) RETURN n.id ORDER BY n.id") == first
        store.write("CREATE (:Person {id: 'b'})")
        assert runner.run("MATCH (n:Person) RETURN n.id ORDER BY n.id").rows == (("a",), ("b",))


def test_an_edge_without_an_artifact(tmp_path: Path) -> None:
    """An end that no artifact describes is a node with its id; kinds with any letters are labels."""
    kinds = ["Quoted name", "a`b", "a'b", 'a"b', "日本", "a:b", "1"]
    artifacts = [{"id": f"n{place}", "kind": kind} for place, kind in enumerate(kinds)]
    edges = [{"source": "n0", "relation": "USES `it`", "target": "gone"}, {**EDGES[0], "relation": "~CALLS"}]
    with kept_graph(world(tmp_path / "data", artifacts, edges), tmp_path / "home") as kept, kept.open() as store:
        found = store.read("MATCH (n) WHERE n.id STARTS WITH 'n' RETURN n.id AS id, labels(n) AS labels ORDER BY n.id")
        assert [row["labels"] for row in found] == [[kind] for kind in kinds]
        with query_runner(kept) as runner:
            assert runner.run("MATCH (n:`a``b`) RETURN n.id").nodes == ("n1",)
            outcome = runner.run("MATCH (a)-[r]->(b:Artifact) RETURN b.id ORDER BY b.id")
        # The second edge says that it was walked backwards, so it points the other way.
        assert outcome.edges == (("api:orders.py", "CALLS", "web:cart.ts"), ("n0", "USES `it`", "gone"))


@pytest.mark.slow("a server of its own starts")
def test_stacks_are_told_apart(tmp_path: Path) -> None:
    """Of several graphs each has its own nodes, which their stack and commit tell apart; edges stay within one."""
    data = world(tmp_path / "data", [{**ARTIFACTS[0], "commit": "old"}, ARTIFACTS[2]], EDGES[:1], "before")
    world(data, ARTIFACTS, EDGES, "after")
    with kept_graph(data, tmp_path / "home", stacks=["before", "after"]) as kept, kept.open() as store:
        cart = "MATCH (n:File {id: 'web:cart.ts'}) RETURN n.stack AS stack, n.commit AS commit ORDER BY commit"
        assert store.read(cart) == [{"stack": "after", "commit": "c1"}, {"stack": "before", "commit": "old"}]
        assert store.read("MATCH (a)-[r]->(b) WHERE a.stack <> b.stack RETURN count(r) AS n") == [{"n": 0}]
        assert store.read("MATCH ()-[r]->() RETURN count(r) AS n") == [{"n": 4}]


def test_a_server_that_cannot_refuse_writes(graph: DatasetGraph, tmp_path: Path) -> None:
    """ArcadeDB by its address lets a read session write, so the whole command is refused, not each query."""
    endpoint = graph.serve()
    try:
        settings = Settings(endpoint.uri, endpoint.user, endpoint.password, data=tmp_path)
        with pytest.raises(DatabaseError, match="can't refuse writes"), query_runner(settings, tmp_path):
            pass
        account = {"NEO4J_URI": endpoint.uri, "NEO4J_USERNAME": endpoint.user, "NEO4J_PASSWORD": endpoint.password}
        data = world(tmp_path / "data")
        write_lines(data / "runs" / "r.jsonl", [{"run": "r", "question_id": "q1", "answer": "x"}])
        words = ("cypher", data, "--graph", endpoint.uri, "-o", tmp_path / "out")
        done = inside(*words, cwd=tmp_path, env=account, code=3)
        assert "can't refuse writes" in done.err
        assert not (tmp_path / "out").exists()
    finally:
        endpoint.release()


def test_an_address_without_a_server(tmp_path: Path) -> None:
    """The error says what to do about the option, and not about a variable that nobody set."""
    data = world(tmp_path / "data")
    write_lines(data / "runs" / "r.jsonl", [{"run": "r", "question_id": "q1", "answer": "x"}])
    done = inside("cypher", data, "--graph", "bolt://127.0.0.1:1", "-o", tmp_path / "out", cwd=tmp_path, code=3)
    assert "bolt://127.0.0.1:1: no server listens" in done.err
    assert "give 'dataset' for the dataset's own graph" in done.err
    assert "NEO4J_URI" not in done.err


def test_prefixes_of_a_query(runner: QueryRunner) -> None:
    """A version before a query is left out; one that asks for a plan is refused with that reason."""
    assert runner.run("CYPHER 5 planner=cost MATCH (t:Table) RETURN t.id").nodes == ("db:orders.sql",)
    for word in ("EXPLAIN", "PROFILE", "CYPHER 5 PROFILE"):
        refused = runner.run(f"{word} MATCH (t:Table) RETURN t.id").refused
        assert refused == f"it asks for the plan of a query, not for its rows ({word.split()[-1]} before it)"
    # LET came after Cypher 5, and what a newer one allows isn't known here.
    let = "MATCH (f:File) LET x = f.line RETURN x"
    assert runner.run(f"CYPHER 5 {let}").error == "LET is no clause of Cypher 5"
    outcome = runner.run(f"CYPHER 25 {let}")
    reason = "LET is no clause of Cypher 5, but Cypher 25 may allow it; ask a Neo4j server"
    assert (outcome.error, outcome.unsupported) == (None, reason)
    assert runner.run("CYPHER 25 MATCH (t:Table) RETURN t.id").nodes == ("db:orders.sql",)
    # More digits than Python reads as a number are no version.
    assert runner.run(f"CYPHER {'9' * 5000} {let}").error


def test_a_name_that_is_a_keyword(runner: QueryRunner) -> None:
    """A query whose variables are called as words of Cypher is traced."""
    outcome = runner.run("MATCH (f:File)-[:WRITES]->() WITH collect(f) AS as UNWIND as AS a RETURN a.id")
    assert (outcome.untraced, outcome.rows) == (None, (("api:orders.py",),))
    assert outcome.edges == (("api:orders.py", "WRITES", "db:orders.sql"),)


def test_fields_that_the_graph_lacks(tmp_path: Path) -> None:
    """Fields of one's own aren't served, and each use of the graph says so, not only the one that makes it."""
    data = world(tmp_path / "data", [{**one, "size": 3} for one in ARTIFACTS])
    for _ in range(2):
        with kept_graph(data, tmp_path / "home") as kept, query_runner(kept) as opened:
            assert opened.notes == ("artifacts.jsonl: the field 'size' isn't used (4 records)",)


def test_graphs_that_are_not_there(tmp_path: Path) -> None:
    """Each error of a graph's name says what is wrong with it, and what to do."""
    data, words = world(tmp_path / "data"), ("gold", "from-cypher")
    write_lines(tmp_path / "q.jsonl", [{"question": "Which?", "cypher": "MATCH (t:Table) RETURN t.id"}])
    (tmp_path / "f.txt").write_text("hello\n", "utf-8")
    env = {"GRAPHKIT_HOME": str(tmp_path / "home")}

    def told(*given: object, code: int) -> str:
        return " ".join(inside(*given, "-o", tmp_path / "out", cwd=tmp_path, env=env, code=code).err.split())

    both = told(*words, "q.jsonl", "--graph", "bolt://127.0.0.1:1", "-d", data, code=2)
    assert "--dataset names the graph of a dataset, --graph that of a server, and one is asked" in both
    address = told(*words, "q.jsonl", "--graph", "http://x", "-d", data, code=2)
    assert "this isn't the address of a Neo4j server" in address
    assert "no graph is named" in told(*words, "q.jsonl", code=2)
    assert "the file has no question with a query" in told(*words, "f.txt", "-d", data, code=2)
    assert "Leave out --stack: its only graph has no name." in told(
        *words, "q.jsonl", "-d", data, "--stack", "zork", code=2
    )
    assert not (tmp_path / "out").exists()
