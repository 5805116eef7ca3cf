"""A user's own graph in a database becomes the artifacts and edges of a dataset, and nothing is written there."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import graphkit as package
from graphkit.database.foreign import ForeignAccess, read_rows
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.problems import Problems
from graphkit.graph.rows import artifact_row
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.graphs.graph_importer import ImportedGraph
from tests.helpers import ROOT
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import read_jsonl
from tests.helpers.engines import EngineSettings, free_port
from tests.helpers.fakebolt import bolt_server, silent_server
from tests.helpers.terminals import Terminal

X, Y, Z, W = "a:m.py#x", "a:m.py#y", "b:n.py#z", "a:m.py#w"

#: A graph under names of its own. x calls y twice; y uses z; what nobody calls has no id.
CODE = """
CREATE (x:Function:__Entity__ {qname: $x, line: 3, end_line: 5, commit: 'c1', doc: 'Text', aka: ['ex', 'the x']})
CREATE (y:Function {qname: $y}), (z:Table {qname: $z, repo: 'beta', path: 'n.py'}), (o:Note {text: 'o'})
CREATE (x)-[:CALLS {weight: 2}]->(y), (x)-[:CALLS]->(y), (y)-[:USES]->(z), (z)-[:ABOUT]->(o)
"""


class Source(NamedTuple):
    """A database as its user names it, with an account that may only read where there is one."""

    uri: str
    username: str | None
    password: str | None


@pytest.fixture
def source(engine_settings: EngineSettings, store: Store) -> Source:
    """The database with the graph."""
    store.write(CODE, {"x": X, "y": Y, "z": Z})
    settings = engine_settings.settings
    if settings.uri is None:
        return Source(store.uri, "reader", json.loads(Layout(settings.data).credentials.read_text())["reader"])
    return Source(store.uri, settings.username if settings.password else None, settings.password)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The dataset whose gold is x -CALLS-> y -CALLS-> z and x -CALLS-> w."""
    tiny(tmp_path / "data")
    return tmp_path / "data"


Import = Callable[..., ImportedGraph]


@pytest.fixture
def imported(source: Source, data: Path) -> Import:
    """Import what a query returns."""

    def run(query: str, **options: Any) -> ImportedGraph:
        username, password = source.username, source.password
        return package.import_graph(
            data, uri=source.uri, query=query, username=username, password=password, replace=True, **options
        )

    return run


def edges(data: Path) -> list[tuple[str, str, str]]:
    """Return the edges that were written, sorted."""
    return sorted((edge["source"], edge["relation"], edge["target"]) for edge in read_jsonl(data / "edges.jsonl"))


def content(store: Store) -> list[Any]:
    """Return all that the database holds."""
    nodes = store.read("MATCH (n) RETURN labels(n) AS l, properties(n) AS p")
    relations = store.read("MATCH (a)-[r]->(b) RETURN type(r) AS t, properties(r) AS p")
    return sorted(map(repr, nodes + relations))


THREE = [(X, "CALLS", Y), (Y, "USES", Z)]


def test_nodes_and_relationships(imported: Import, data: Path, store: Store) -> None:
    """Properties make the artifact, labels its kind; what has no id is left out with its edge; nothing is changed."""
    before = content(store)
    made = imported("MATCH (a)-[r]->(b) RETURN a, r, b")
    artifacts = {row["id"]: row for row in read_jsonl(data / "artifacts.jsonl")}
    assert artifacts == {
        X: {"id": X, "kind": "Function", "commit": "c1", "line": 3, "end_line": 5, "aliases": ["ex", "the x"]},
        Y: {"id": Y, "kind": "Function"},
        # Its id begins with another repository, so it doesn't show the path.
        Z: {"id": Z, "kind": "Table", "repo": "beta", "path": "n.py"},
    }
    assert edges(data) == THREE
    assert made.figures["ids"] == {"by the property qname": 3}
    assert made.figures["relations"] == {"CALLS": 1, "USES": 1}
    assert made.figures["notes"] == {"repeated edges, each written once": 1}
    assert made.figures["left_out"] == {
        "nodes named only by an elementId, which identifies other nodes in another database": 1,
        "edges at nodes that were skipped": 1,
    }
    # x -CALLS-> y is gold; y -CALLS-> z is there by another relation; w isn't.
    assert made.figures["gold"]["edges"] == {"all": 3, "forward": 1, "reversed": 0, "other": 1, "unknown": 1}
    assert made.figures["unread"] == {"doc": 1, "weight of edges": 1}
    assert content(store) == before


@pytest.mark.parametrize(
    "query",
    [
        "MATCH p = (a)-[*1..2]->(b:Table) RETURN p",
        "MATCH (a)-[r]->(b) WHERE b.qname IS NOT NULL RETURN collect(a) AS a, collect(r) AS r, collect(b) AS b",
        "MATCH (a)-[r]->(b) WHERE b.qname IS NOT NULL RETURN {from: a, over: r, to: b} AS edge",
        "MATCH (a) WHERE a.qname IS NOT NULL OPTIONAL MATCH (a)-[r:CALLS|USES]->(b) RETURN r, a, b",
        "MATCH (a)-[r]->(b) WHERE b.qname IS NOT NULL "
        "RETURN a.qname AS source, type(r) AS relation, b.qname AS target, 1 AS other",
    ],
    ids=["paths", "lists", "maps", "optional", "columns"],
)
def test_what_a_query_may_return(query: str, imported: Import, data: Path) -> None:
    """Paths, lists, maps, nulls and plain columns all hold the same edges."""
    imported(query)
    assert edges(data) == THREE


def test_columns_by_name(imported: Import, data: Path) -> None:
    """--columns names plain columns, or nodes and the relationship; a missing one is reported with the closest."""
    plain = "MATCH (a)-[r]->(b) WHERE b.qname IS NOT NULL RETURN a.qname, type(r), b.qname"
    with pytest.raises(InputError, match="the graph has no edge") as caught:
        imported(plain)
    assert "rows without a node, relationship or path: 3, such as columns a.qname, type(r), b.qname" in str(
        caught.value
    )
    imported(plain, columns=("b.qname", "type(r)", "a.qname"))
    assert edges(data) == sorted((target, relation, source) for source, relation, target in THREE)
    imported("MATCH (a)-[r]->(b) WHERE b.qname IS NOT NULL RETURN a, r, b", columns=("b", "r", "a"))
    assert edges(data) == sorted((target, relation, source) for source, relation, target in THREE)
    with pytest.raises(InputError, match="no column 'type'") as caught:
        imported(plain, columns=("a.qname", "type", "b.qname"))
    assert "Did you mean type(r)?" in str(caught.value)


def test_relationships_before_and_without_their_nodes(imported: Import, data: Path) -> None:
    """A relationship waits for nodes of later rows; where they never come, it is reported how they do."""
    later = "MATCH ()-[r]->() RETURN r AS part UNION ALL MATCH (n) WHERE n.qname IS NOT NULL RETURN n AS part"
    made = imported(later)
    assert edges(data) == THREE
    assert made.artifacts == 3
    with pytest.raises(InputError, match="doesn't return: let it return both ends"):
        imported("MATCH ()-[r]->() RETURN r")


def test_only_element_ids(imported: Import, data: Path) -> None:
    """If no property names a node, the import is refused: an elementId doesn't outlive a reload."""
    with pytest.raises(InputError, match="after a reload other nodes have these elementIds") as caught:
        imported("MATCH (a:Note) RETURN a")
    assert "(there are: text)" in str(caught.value)
    with pytest.raises(InputError, match="no node has the property 'qnam'") as caught:
        imported("MATCH (a)-[r]->(b) RETURN a, r, b", id_property="qnam")
    assert "Did you mean qname?" in str(caught.value)
    assert not (data / "artifacts.jsonl").exists()


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a:Note) SET a.text = 'p' RETURN a",
        "CREATE (a:New)-[r:TO]->(b:New) RETURN a, r, b",
        "MATCH (n) DETACH DELETE n",
    ],
)
def test_nothing_is_written(query: str, imported: Import, store: Store) -> None:
    """A query that would write is refused by the server, whatever the account may do."""
    before = content(store)
    with pytest.raises(DatabaseError, match="may only read") as caught:
        imported(query)
    assert "MATCH and RETURN" in str(caught.value)
    # On Neo4j it was the server that refused, and not what is looked for before everything is undone.
    assert store.engine != "neo4j" or caught.value.__cause__ is not None
    assert content(store) == before


def test_an_account_that_may_write_writes_nothing(
    store: Store, engine_settings: EngineSettings, source: Source
) -> None:
    """A server that takes writes in a session for reading has them undone, for nothing is ever committed."""
    if engine_settings.settings.uri is not None:
        pytest.skip("Neo4j refuses writes in a session for reading")
    password = json.loads(Layout(engine_settings.settings.data).credentials.read_text())["root"]
    before = content(store)
    access = ForeignAccess(source.uri, "root", password)
    with pytest.raises(DatabaseError):
        list(read_rows(access, "CREATE (a:New {qname: 'n'}) RETURN a"))
    assert content(store) == before


def test_wrong_cypher(imported: Import) -> None:
    """A query that can't be run is reported in the server's words, as a mistake of usage."""
    with pytest.raises(InputError, match="can't be run"):
        imported("MATCH (a)-[r]->(b) RETRUN a")
    with pytest.raises(InputError, match="query is empty"):
        imported("  ")
    with pytest.raises(InputError, match="uses LOAD CSV"):
        imported("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line")


def test_many_rows_in_little_memory(source: Source, store: Store) -> None:
    """The driver keeps every node and relationship of a result: what was read of them is let go."""
    text = "x" * 500
    store.write(
        "UNWIND range(1, 4000) AS i CREATE (:Many {t: $text + i})-[:TO {t: $text + i}]->(:Many)", {"text": text}
    )
    access = ForeignAccess(*source)
    assert list(read_rows(access, "RETURN 1 AS one")) == [{"one": 1}]  # what is imported and kept once is there now
    tracemalloc.start()
    assert sum(1 for _ in read_rows(access, "MATCH (a:Many)-[r]->(b) RETURN a, r, b")) == 4000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The texts alone are 6 MB.
    assert peak < 4e6


def test_the_command(source: Source, data: Path, tmp_path: Path) -> None:
    """The command takes the password from its variable, ignores graphkit's own settings, and tells what was read."""
    words = ("import", "graph", "--uri", source.uri, "--dataset", data, "--query", "MATCH (a)-[r]->(b) RETURN a, r, b")
    user = ("--user", source.username) if source.username else ()
    # The address of graphkit's own database is another one, at which nobody is.
    env = {"GRAPHKIT_SOURCE_PASSWORD": source.password or "", "NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "no"}
    done = inside(*words, *user, cwd=tmp_path, env=env, code=0)
    lines = done.out.splitlines()
    assert lines[0] == f"{source.uri}: 4 rows read"
    assert lines[1] == "3 artifacts: Function (2), Table (1)"
    assert lines[2] in ("2 edges: CALLS (1), USES (1)", "2 edges: USES (1), CALLS (1)")  # as the database returns them
    assert lines[3] == "ids: by the property qname (3)"
    assert "gold: 1 of 3 edges are in it, 0 reversed, 1 by another relation, 1 not; 3 of 4 ids" in lines
    assert lines[-1] == f"{data}/artifacts.jsonl, {data}/edges.jsonl"
    assert source.password is None or source.password not in done.out + done.err
    again = inside(*words, *user, cwd=tmp_path, env=env, code=2)
    assert "already has this knowledge graph" in again.err
    reported = inside(*words, *user, "--replace", "--json", cwd=tmp_path, env=env, code=0).object()
    assert (reported["artifacts"], reported["edges"], reported["dataset"]) == (3, 2, str(data))
    # What was made loads, and the gold that isn't in it is reported as such.
    assert inside("check", data, cwd=tmp_path).out


def test_the_password_is_asked_for(source: Source, data: Path, tmp_path: Path) -> None:
    """In a terminal the password of a user who is named is asked for, and not shown."""
    if source.password is None:
        pytest.skip("this server asks for none")
    words = ("import", "graph", "--uri", source.uri, "--dataset", data, "--user", source.username)
    terminal = Terminal(*words, "--query", "MATCH (a)-[r]->(b) RETURN a, r, b", cwd=tmp_path)
    terminal.expect("password of reader: ")  # the blank comes when typing is no longer shown
    terminal.type(f"{source.password}\n")
    code, out = terminal.end()
    assert code == 0, terminal.said
    assert "3 artifacts" in out
    terminal.close()


def test_who_does_not_answer(data: Path, tmp_path: Path) -> None:
    """Nobody, other credentials, an old server: each is a sentence with this command's own remedy."""

    def refused(uri: str, *options: object) -> str:
        words = ("import", "graph", "--uri", uri, "--dataset", data, "--query", "MATCH (n) RETURN n", *options)
        err = inside(*words, cwd=tmp_path, code=3).err
        assert "NEO4J_" not in err
        return err

    assert "connection was refused\n  Check --uri" in refused(f"bolt://127.0.0.1:{free_port()}")
    with bolt_server("Neo4j/5.26.0", "Neo.ClientError.Security.Unauthorized") as uri:
        err = refused(uri)
        assert "refused the user name or the password" in err
        assert "Give --user, and the password by GRAPHKIT_SOURCE_PASSWORD" in err
        secret = uri.replace("://", "://me:open-sesame@")
        assert "sesame" not in refused(secret)
    done = inside(
        *("import", "graph", "--uri", "http://h", "--dataset", data, "--query", "RETURN 1"), cwd=tmp_path, code=2
    )
    assert "isn't the address of a Neo4j server" in done.err
    assert "NEO4J_URI" not in done.err


def test_a_silent_server(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that never says a word is given up in time."""
    from graphkit.database import driver

    monkeypatch.setattr(driver, "ANSWER_SECONDS", 0.5)
    with silent_server() as uri, pytest.raises(DatabaseError, match="didn't answer in time"):
        package.import_graph(data, uri=uri, query="MATCH (n) RETURN n")
    assert sorted(path.name for path in data.iterdir()) == ["questions.jsonl", "runs"]


def test_a_knowledge_graph_comes_back(store: Store, source: Source, tmp_path: Path) -> None:
    """The storefront's graph, written into a database as a user would, is imported as it was, and its gold is whole."""
    fixture = ROOT / "fixtures" / "storefront"
    artifacts = read_jsonl(fixture / "artifacts-stack-2.jsonl")
    store.write("UNWIND $rows AS row CREATE (n:Code) SET n = row", {"rows": artifacts})
    by_relation: dict[str, list[Any]] = {}
    for edge in read_jsonl(fixture / "edges-stack-2.jsonl"):
        by_relation.setdefault(edge["relation"], []).append(edge)
    for relation, rows in by_relation.items():
        pairs = "UNWIND $rows AS row MATCH (a:Code {id: row.source}), (b:Code {id: row.target})"
        store.write(f"{pairs} CREATE (a)-[:{relation}]->(b)", {"rows": rows})
    copy = shutil.copytree(fixture, tmp_path / "storefront")
    query = "MATCH (a:Code) OPTIONAL MATCH (a)-[r]->(b) RETURN a, r, b"
    username, password = source.username, source.password
    made = package.import_graph(
        copy, uri=source.uri, query=query, username=username, password=password, graph="stack-2", replace=True
    )

    def held(folder: Path) -> tuple[set[str], set[str]]:
        dataset = package.Dataset(folder)
        paths = dataset.graphs["stack-2"]
        assert paths[0] is not None
        assert paths[1] is not None
        known = dataset.commit_graph(Problems())
        nodes = {repr(artifact_row(one, known)) for one in dataset.artifacts(paths[0], Problems())}
        return nodes, {repr(edge) for edge in dataset.edges(paths[1], Problems())}

    assert held(copy) == held(fixture)
    assert (made.artifacts, made.edges) == (203, 420)
    # The gold of this stack, and of questions about both.
    steps = {
        (step["source"], step["relation"], step["target"])
        for question in read_jsonl(copy / "questions.jsonl")
        if question.get("stack") in ("stack-2", None)
        for path in question["paths"]
        for step in path["steps"]
    }
    assert made.figures["gold"]["edges"]["all"] == len(steps)
    held_edges = {
        (one["source"], one["relation"], one["target"]) for one in read_jsonl(fixture / "edges-stack-2.jsonl")
    }
    assert made.figures["gold"]["edges"]["forward"] == len(steps & held_edges)


def test_a_new_dataset_of_a_database(source: Source, tmp_path: Path) -> None:
    """`init` reads the whole database, and finds the relation and the repository of a path in a table."""
    (tmp_path / "q.csv").write_text(f"question,path\nWho reads z?,m.py#y -> {Z}\n")
    words = ["init", "mine", "q.csv", "--graph", source.uri]
    words += ["--user", source.username] if source.username else []
    env = {"GRAPHKIT_SOURCE_PASSWORD": source.password} if source.password else {}
    done = inside(*words, cwd=tmp_path, env=env, code=0)
    [question] = read_jsonl(tmp_path / "mine" / "questions.jsonl")
    assert question["paths"] == [{"steps": [{"source": Y, "target": Z, "relation": "USES"}]}]
    # Two of the three relationships between named nodes are one edge, and the note has no name.
    assert "knowledge graph: 3 artifacts, 2 edges; it holds 1 of 1 gold step" in done.out
