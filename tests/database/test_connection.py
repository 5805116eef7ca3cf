"""The connection layer behaves the same on both engines, and its messages name the problem and a remedy."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import neo4j
import pytest

from graphkit.database import driver
from graphkit.database.settings import Settings, hide_password
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, GraphkitError, InputError
from graphkit.plugins.embedded import embedded_access
from tests.helpers import ROOT
from tests.helpers.engines import ENGINES, EngineSettings, Neo4jServer

pytestmark = pytest.mark.newest

VALUES: dict[str, object] = {
    "null": None,
    "true": True,
    "zero": 0,
    "beyond a double": 2**53 + 1,
    "largest": 2**63 - 1,
    "smallest": -(2**63),
    "float": 0.1 + 0.2,
    "whole float": 2.0,
    "infinite": float("inf"),
    "empty text": "",
    "text": "naïve 漢字 😀 𝔘 \U0010ffff",
    "quotes": "'\"`\\ \n\t $x {y}",
    "empty list": [],
    "empty map": {},
    "list": [1, 2.5, "x", None, True, [1, [2]], {"a": None}],
    "map": {"a": {"b": [{"c": 1}, {"c": None}]}, "e": [], "name with spaces": 1, "": 2},
}


# Values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VALUES)
def test_parameter_round_trip(store: Store, name: str) -> None:
    """Every kind of value comes back from the server unchanged, with its type."""
    value = VALUES[name]
    [row] = store.read("RETURN $value AS value", {"value": value})
    assert row == {"value": value}
    assert type(row["value"]) is type(value)


def test_stored_round_trip(store: Store) -> None:
    """Properties of a node come back from the database as they were written."""
    kept = {"text": VALUES["text"], "big": 2**63 - 1, "none": None, "texts": ["a", "😀"], "none at all": []}
    store.write("CREATE (n:Kept) SET n = $kept", {"kept": kept})
    [row] = store.read("MATCH (n:Kept) RETURN n")
    assert row["n"] == {"_labels": ["Kept"], **{k: v for k, v in kept.items() if v is not None}}


def test_graph_values_are_plain(store: Store) -> None:
    """Nodes, relationships and paths come back as dictionaries and lists, dates and times as ISO text."""
    store.write("CREATE (:Plain {id: 'a'})-[:TO {n: 1}]->(:Plain {id: 'b'})")
    [row] = store.read(
        "MATCH p = (a:Plain)-[t:TO]->(b) RETURN a, t, p, [a, {inner: t}] AS nested, date('2026-01-02') AS day, "
        "datetime('2026-01-02T03:04:05Z') AS time, datetime('2026-01-02T03:04:05.250+02:00') AS fraction"
    )
    a, to, b = {"_labels": ["Plain"], "id": "a"}, {"_type": "TO", "n": 1}, {"_labels": ["Plain"], "id": "b"}
    assert row == {
        "a": a,
        "t": to,
        "p": [a, to, b],
        "nested": [a, {"inner": to}],
        "day": "2026-01-02",
        "time": "2026-01-02T03:04:05+00:00",
        "fraction": "2026-01-02T03:04:05.25+02:00",
    }


# Writing -----------------------------------------------------------------------------------------------------------


def test_write_returns_rows(store: Store) -> None:
    """A writing statement may return rows."""
    assert store.write("CREATE (n:W {id: $id}) RETURN n.id AS id", {"id": 7}) == [{"id": 7}]


def test_write_many_is_atomic(store: Store) -> None:
    """If the second of two statements fails, the first has no effect."""
    with pytest.raises(DatabaseError):
        store.write_many([("CREATE (:Atomic)", {}), ("UNWIND [1, 0] AS i CREATE (:Atomic {v: 1 / i})", {})])
    assert count(store) == 0
    store.write_many([("CREATE (:Atomic)", {}), ("MATCH (n:Atomic) SET n.v = $v", {"v": 2})])
    assert store.read("MATCH (n:Atomic) RETURN n.v AS v") == [{"v": 2}]


def test_batch_of_many_megabytes(store: Store) -> None:
    """One message may be larger than the 16 MiB that the embedded engine accepts by default."""
    rows = [{"text": "x" * 100_000} for _ in range(250)]
    store.write("UNWIND $rows AS row CREATE (:Large {n: size(row.text)})", {"rows": rows})
    assert store.read("MATCH (n:Large) RETURN sum(n.n) AS n") == [{"n": 25_000_000}]


def test_schema_twice(store: Store) -> None:
    """Schema statements with IF NOT EXISTS may run again, and a constraint holds."""
    statements = [
        "CREATE CONSTRAINT once_id IF NOT EXISTS FOR (n:Once) REQUIRE n.id IS UNIQUE",
        "CREATE INDEX once_at IF NOT EXISTS FOR (n:Once) ON (n.at)",
    ]
    store.schema(statements)
    store.schema(statements)
    store.write("CREATE (:Once {id: 1})")
    with pytest.raises(DatabaseError, match="conflicting record"):
        store.write("CREATE (:Once {id: 1})")


def test_conflicting_writers_both_succeed(store: Store) -> None:
    """Writers that change the same record at once are run again, and no change is lost."""
    store.write("CREATE (:Counter {n: 0})")
    with ThreadPoolExecutor(4) as pool:
        changes = [pool.submit(store.write, "MATCH (c:Counter) SET c.n = c.n + 1") for _ in range(40)]
        for change in changes:
            change.result()
    assert store.read("MATCH (c:Counter) RETURN c.n AS n") == [{"n": 40}]


def test_concurrent_merges_of_one_key(store: Store) -> None:
    """Two loaders that merge the same new keys at once make each node once."""
    store.schema(["CREATE CONSTRAINT merged_id IF NOT EXISTS FOR (n:Merged) REQUIRE n.id IS UNIQUE"])

    def load() -> None:
        for first in range(0, 300, 20):
            store.write("UNWIND $ids AS id MERGE (n:Merged {id: id})", {"ids": [*range(first, first + 20)]})

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(load) for _ in range(4)]:
            done.result()
    assert store.read("MATCH (n:Merged) RETURN count(n) AS n, count(DISTINCT n.id) AS ids") == [{"n": 300, "ids": 300}]


def test_collecting_many_values(store: Store) -> None:
    """A query may collect more than the half a million values at which the embedded engine stops by default."""
    cypher = "UNWIND range(1, 600) AS q UNWIND range(1, 1000) AS e WITH q, collect(e) AS l RETURN sum(size(l)) AS n"
    assert store.read(cypher) == [{"n": 600_000}]


# Reading only ------------------------------------------------------------------------------------------------------

WRITES = [
    "CREATE (:Stranger)",
    "CREATE (:Known {v: 2})",
    "MATCH (n:Known) SET n.v = 2",
    "MATCH (n:Known) REMOVE n.v",
    "MATCH (n:Known) DELETE n",
    "MATCH (n:Known) DETACH DELETE n",
    "MERGE (n:Known {v: 3})",
    "MATCH (n:Known) CREATE (n)-[:TO]->(n)",
    "CALL { CREATE (:Known) } RETURN 1",
    "PROFILE CREATE (:Known)",
    "PROFILE MATCH (n:Known) SET n.v = 2",
    "profile MATCH (n:Known) DELETE n",
    "CREATE INDEX known_v IF NOT EXISTS FOR (n:Known) ON (n.v)",
    "CREATE CONSTRAINT known_c IF NOT EXISTS FOR (n:Known) REQUIRE n.v IS UNIQUE",
]


@pytest.mark.parametrize("cypher", WRITES)
def test_readonly_query_refuses_to_write(store: Store, cypher: str) -> None:
    """The server refuses every kind of write in a read-only query, and nothing changes."""
    store.write("CREATE (:Known {v: 1})")
    with pytest.raises(DatabaseError, match="may only read") as caught:
        store.query_readonly(cypher)
    assert caught.value.remedy
    assert store.read("MATCH (n) RETURN labels(n) AS l, n.v AS v") == [{"l": ["Known"], "v": 1}]
    assert store.read("SHOW INDEXES YIELD labelsOrTypes WHERE 'Known' IN labelsOrTypes RETURN labelsOrTypes") == []


def test_readonly_query_returns_columns_and_rows(store: Store) -> None:
    """A read-only query returns its columns; without rows the embedded engine doesn't know them."""
    assert store.query_readonly("UNWIND $x AS a RETURN a, a + 1 AS b", {"x": [1, 2]}) == (["a", "b"], [[1, 2], [2, 3]])
    columns, rows = store.query_readonly("MATCH (n:Nobody) RETURN n.x AS x, n")
    assert rows == []
    assert columns == ([] if store.engine == "embedded" else ["x", "n"])


def test_read_only_store_refuses_to_write(engine_settings: EngineSettings) -> None:
    """A read-only store reads, and can't write."""
    with Store.open(engine_settings.settings, read_only=True) as store:
        assert store.read("RETURN 1 AS one") == [{"one": 1}]
        with pytest.raises(DatabaseError, match="may only read"):
            store.write("CREATE (:Known)")
        with pytest.raises(DatabaseError, match="may only read"):
            store.query_readonly("CREATE (:Known)")
        assert count(store) == 0


@pytest.mark.parametrize("cypher", ["MATCH (n RETURN n", "MATCH (n) RETRN n", "RETURN x", "RETURN nothing.like(1)"])
def test_wrong_query_is_an_input_error(store: Store, cypher: str) -> None:
    """Invalid Cypher is an InputError with the server's message on one short line."""
    with pytest.raises(InputError, match="can't be run: ") as caught:
        store.query_readonly(cypher)
    assert "\n" not in caught.value.what
    assert len(caught.value.what) < 400


def test_wrong_query_names_the_place(store: Store) -> None:
    """The message for a wrong word keeps the word and its place, without the list of expected tokens."""
    with pytest.raises(InputError, match=r"(?i)'RETRN'.*(line 1)") as caught:
        store.query_readonly("MATCH (n) RETRN n")
    assert "LOAD CSV" not in str(caught.value)


def test_empty_query(store: Store) -> None:
    """An empty query is refused before it is sent."""
    with pytest.raises(InputError, match="empty"):
        store.query_readonly(" \n")


def test_refused_statement_of_ours(store: Store) -> None:
    """Any other refused statement is a DatabaseError with the server's message."""
    with pytest.raises(DatabaseError, match="refused"):
        store.read("RETURN 1 / 0 AS x")


# Opening -----------------------------------------------------------------------------------------------------------


def test_opened_store_says_what_it_is(engine_settings: EngineSettings) -> None:
    """An open store knows its engine, version, database and address; closing it twice is harmless."""
    store = Store.open(engine_settings.settings)
    assert store.engine == engine_settings.engine
    assert store.version[0].isdigit()
    assert (store.database, store.uri.partition("://")[0]) == ("neo4j", "bolt")
    store.close()
    store.close()


def test_wrong_password(embedded_dir: Path) -> None:
    """A wrong password is reported without showing it."""
    with Store.open(Settings(data=embedded_dir)) as store:
        uri = store.uri
    with pytest.raises(DatabaseError, match="user name or the password") as caught:
        Store.open(Settings(uri=uri, username="nobody", password="open-sesame"))
    assert "NEO4J_PASSWORD" in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_database_that_does_not_exist(neo4j_server: Neo4jServer) -> None:
    """An unknown database name is reported at once."""
    server = neo4j_server.settings
    settings = Settings(server.uri, server.username, server.password, "not.there")
    with pytest.raises(DatabaseError, match=r"no database named 'not\.there'") as caught:
        Store.open(settings)
    assert "NEO4J_DATABASE" in str(caught.value)


def test_embedded_engine_has_its_one_database(embedded_dir: Path) -> None:
    """NEO4J_DATABASE is for servers: the embedded engine always uses its own."""
    with Store.open(Settings(data=embedded_dir, database="elsewhere")) as store:
        assert store.database == "neo4j"


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_closed_port(scheme: str) -> None:
    """If nothing listens, the message names the address, the variable and how to start a server.

    Version 5 of the driver doesn't say why a server gave no routing table.
    """
    unsaid = scheme == "neo4j" and neo4j.__version__.startswith("5.")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"{scheme}://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DatabaseError, match="routing table" if unsaid else "refused") as caught:
        Store.open(Settings(uri=uri))
    assert caught.value.where == uri
    for hint in ("NEO4J_URI", "graphkit db status", "docker compose up"):
        assert hint in str(caught.value)


def test_silent_server(silent_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that accepts the connection and never answers times out."""
    monkeypatch.setattr(driver, "ANSWER_SECONDS", 0.5)
    with pytest.raises(DatabaseError, match="didn't answer in time"):
        Store.open(Settings(uri=f"bolt://127.0.0.1:{silent_port}"))


def test_full_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed commit on a full disk is reported as such, although the embedded engine gives no reason."""
    if store.engine != "embedded":
        pytest.skip("other servers say it themselves")
    monkeypatch.setattr(embedded_access, "disk_is_full", lambda _: True)
    with pytest.raises(DatabaseError, match="disk of the database is full") as caught:
        store.read("CALL nothing.like.this()")
    assert "Make room" in str(caught.value)


@pytest.mark.slow("a query fills the memory of a server")
def test_query_beyond_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that needs too much memory is refused, and the embedded database keeps running."""
    monkeypatch.setenv("GRAPHKIT_JVM_HEAP", "200m")
    greedy = "UNWIND range(1, 10000) AS a UNWIND range(1, 1000) AS b RETURN size(collect([a, b, 'x'])) AS n"
    with Store.open(Settings(data=tmp_path / "db")) as store:
        with pytest.raises(DatabaseError, match="more memory") as caught:
            store.read(greedy)
        assert "GRAPHKIT_JVM_HEAP" in str(caught.value)
        assert store.read("RETURN 1 AS one") == [{"one": 1}]


def test_server_that_is_no_database(rude_port: int) -> None:
    """Another kind of server isn't mistaken for a database."""
    with pytest.raises(DatabaseError, match="isn't Neo4j"):
        Store.open(Settings(uri=f"bolt://127.0.0.1:{rude_port}"))


def test_unknown_host(refused: Callable[[], list[str]]) -> None:
    """An unknown host is distinguished from one that doesn't answer."""
    with pytest.raises(DatabaseError, match="host of this address is unknown"):
        Store.open(Settings(uri="bolt://nowhere.invalid:7687"))
    assert {line.partition(": ")[2] for line in refused()} == {"look-up of nowhere.invalid"}


# Settings ----------------------------------------------------------------------------------------------------------


def test_settings_without_anything() -> None:
    """Without settings, the embedded database of the working folder is used."""
    assert Settings.resolve() == Settings(None, "neo4j", None, "neo4j", Path(".graphkit"))


def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of Neo4j's own tools count, and arguments override them."""
    for name, value in {"URI": "neo4j+s://db.example", "USERNAME": "u", "PASSWORD": "p", "DATABASE": "d"}.items():
        monkeypatch.setenv(f"NEO4J_{name}", value)
    assert Settings.resolve() == Settings("neo4j+s://db.example", "u", "p", "d", Path(".graphkit"))
    given = Settings.resolve("bolt://other:7687", "v", "q", "e", Path("x"))
    assert given == Settings("bolt://other:7687", "v", "q", "e", Path("x"))


def test_data_folder_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """GRAPHKIT_HOME names the folder of the embedded database."""
    monkeypatch.setenv("GRAPHKIT_HOME", "/somewhere/else")
    assert Settings.resolve().data == Path("/somewhere/else")


def test_login_inside_the_address() -> None:
    """A login in the address is used, and the address is kept without it."""
    settings = Settings.resolve("bolt://me:s%40crt@db.example:7687")
    assert settings == Settings("bolt://db.example:7687", "me", "s@crt")


@pytest.mark.parametrize("uri", ["http://host:7474", "localhost:7687", "bolt://", "bolt://me:secret@host:port", "x y"])
def test_address_of_no_bolt_server(uri: str) -> None:
    """An address of another kind is refused with an example of a right one, and no password is shown."""
    with pytest.raises(InputError, match="bolt://HOST:7687") as caught:
        Settings.resolve(uri)
    assert "secret" not in str(caught.value)


def test_password_stays_hidden() -> None:
    """A password is neither in the text of the settings nor in any shown address."""
    assert "sesame" not in repr(Settings(password="sesame"))
    assert hide_password("at bolt+s://me:se@same@h:1 and neo4j://h") == "at bolt+s://h:1 and neo4j://h"


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan"])
def test_wrong_time_limit(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A time limit that isn't a number of seconds is refused before a server is started."""
    monkeypatch.setenv("GRAPHKIT_QUERY_TIMEOUT", text)
    with pytest.raises(InputError, match="GRAPHKIT_QUERY_TIMEOUT"):
        Store.open(Settings(data=tmp_path / "db"))
    assert not (tmp_path / "db").exists()


@pytest.mark.slow("a query runs until it is stopped")
def test_query_beyond_the_time_limit(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """The server ends a query that takes too long, and the message says so."""
    monkeypatch.setenv("GRAPHKIT_QUERY_TIMEOUT", "1")
    # A folder of its own: the embedded server takes the limit when it starts.
    embedded = Settings(data=tmp_path / "db")
    settings = embedded if engine == "embedded" else request.getfixturevalue(f"{engine}_server").settings
    endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
    with Store.open(settings) as store, pytest.raises(DatabaseError, match="took too long"):
        store.read(endless)


# Quiet -------------------------------------------------------------------------------------------------------------


def test_client_prints_nothing(engine_settings: EngineSettings) -> None:
    """A process that uses the store prints nothing, not even for a query that Neo4j warns about."""
    script = (
        "from graphkit.database.store import Store\nfrom graphkit.database.settings import Settings\n"
        "with Store.open(Settings.resolve()) as store:\n"
        "    store.read('MATCH (n:NeverSeen)-[:NOR_THIS]->(m) RETURN n.nothing, id(m)')\n"
        "    store.query_readonly('MATCH (a), (b:NeverSeen) RETURN a, b')\n"
    )
    command = [sys.executable, "-W", "always", "-c", script]
    done = subprocess.run(command, env=engine_settings.env, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_importing_is_cheap() -> None:
    """Importing the connection loads neither the driver nor the embedded engine."""
    script = (
        "import sys, graphkit.database.store\n"
        "print(*{'neo4j', 'arcadedb_embedded', 'jpype', 'numpy', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""


def test_errors_are_ours(store: Store) -> None:
    """Every error of the driver becomes an error of graphkit with the driver's error as its cause."""
    with pytest.raises(GraphkitError) as caught:
        store.write("THIS IS NOT CYPHER")
    assert caught.value.__cause__ is not None


# Helpers -----------------------------------------------------------------------------------------------------------


def count(store: Store) -> object:
    """Count the nodes."""
    return store.read("MATCH (n) RETURN count(n) AS n")[0]["n"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine."""
    name: str = request.param
    return name


@pytest.fixture
def silent_port() -> Iterator[int]:
    """The port of a server that accepts connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def rude_port() -> Iterator[int]:
    """The port of a server that answers every connection with a few words and hangs up."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.1)
        done = threading.Event()

        def answer() -> None:
            while not done.is_set():
                try:
                    caller, _ = listener.accept()
                except TimeoutError:
                    continue
                with caller:
                    caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        done.set()
        thread.join()
