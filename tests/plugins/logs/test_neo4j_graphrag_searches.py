"""Searches of neo4j-graphrag without loss: what is written of the driver's own objects is read as it was."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import neo4j
import pytest
from neo4j.graph import Graph, Node, Path, Relationship
from neo4j.time import DateTime
from neo4j.vector import Vector

import graphkit
from graphkit.errors import InputError
from graphkit.plugins.logs.neo4j_graphrag_searches import LONGEST_NUMBERS, record_item
from graphkit.readers.graph_names import is_element_id
from tests.helpers.engines import ENVIRONMENT, Neo4jServer
from tests.plugins.logs.shared_logs import edges, names, read


@dataclass
class Built:
    """A graph of the driver's own objects."""

    graph: Graph = field(default_factory=Graph)
    count: int = 0

    def node(self, name: str, **properties: Any) -> Node:
        """Return a node that is named by its qname."""
        self.count += 1
        given = {"qname": name, **properties}
        return Node(self.graph, f"4:8718b093-462d-48a1-90a9-c49cd235a8be:{self.count}", self.count, ["Code"], given)

    def edge(self, start: Node, relation: str, end: Node) -> Relationship:
        """Return a relationship between two nodes."""
        self.count += 1
        made = self.graph.relationship_type(relation)(self.graph, f"5:x:{self.count}", self.count, {"line": 3})
        made._start_node, made._end_node = start, end
        return made


@dataclass
class Raw:
    """The result of a retriever's ``get_search_results``."""

    records: list[neo4j.Record]
    metadata: dict[str, Any] | None = None


@dataclass
class Retriever:
    """A retriever as the library has them: ``search`` formats what ``get_search_results`` finds."""

    raw: Raw | Exception

    def get_search_results(self, query_text: str, top_k: int = 5) -> Raw:
        """Return the records, or raise."""
        if isinstance(self.raw, Exception):
            raise self.raw
        return self.raw

    def search(self, *args: Any, **kwargs: Any) -> Raw:
        """Search."""
        return self.get_search_results(*args, **kwargs)


def logged(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item within a retriever's result, as it is read back from a file."""
    line: dict[str, Any] = json.loads(
        json.dumps({"question_id": "q", "result": {"items": [item], "metadata": {}}}, allow_nan=False)
    )
    return line


def recorded(**columns: Any) -> neo4j.Record:
    """Return a record of the driver's."""
    return neo4j.Record(columns)  # type: ignore[no-untyped-call]


def walked_back() -> neo4j.Record:
    """Return a record whose path goes from b against an edge to a, and along two to d."""
    built = Built()
    a, b, c, d = (built.node(name) for name in "abcd")
    first, second, third = built.edge(a, "CALLS", b), built.edge(a, "USES", c), built.edge(c, "CALLS", d)
    return recorded(id="b", score=0.5, text="def b(): ...", p=Path(b, first, second, third))


def test_paths_keep_all() -> None:
    """Each edge has its own direction, wherever the path went along it, and they stand in the path's order."""
    (answer,) = read("neo4j-graphrag", [logged(record_item(walked_back()))])
    assert edges(answer) == [[("a", "CALLS", "b"), ("a", "USES", "c"), ("c", "CALLS", "d")]]
    assert answer.ordered is True
    assert names(answer) == ["b", "a", "c", "d"]  # the ends of its edges follow the item
    assert answer.retrieved is not None
    assert (answer.retrieved[0].score, answer.retrieved[0].text) == (0.5, "def b(): ...")
    assert answer.notes == []


def test_what_the_model_reads() -> None:
    """The content is the record's text with its edges, or its values where it has no text."""
    assert record_item(walked_back())["content"] == (
        "def b(): ...\n(a)-[:CALLS]->(b)\n(a)-[:USES]->(c)\n(c)-[:CALLS]->(d)"
    )
    built = Built()
    a, b = built.node("a"), built.node("b")
    record = recorded(n=3, a=a, r=built.edge(a, "CALLS", b), none=None)
    assert record_item(record)["content"] == 'n: 3\na: {"qname": "a"}\nr: "CALLS"'


def test_columns_of_each_kind() -> None:
    """Relationships, nodes, lists of them and maps of edges are read from any column; a null is none."""
    built = Built()
    a, b, c = (built.node(name) for name in "abc")
    calls, uses = built.edge(a, "CALLS", b), built.edge(c, "USES", a)
    kinds: list[tuple[dict[str, Any], Any, Any]] = [
        ({"a": a, "r": calls, "b": b}, [[("a", "CALLS", "b")]], ["a", "b"]),
        ({"r": calls}, [[("a", "CALLS", "b")]], ["a", "b"]),
        ({"id": "a", "r": [calls, uses]}, [[("a", "CALLS", "b"), ("c", "USES", "a")]], ["a", "b", "c"]),
        ({"relationships": [calls], "nodes": [a, b]}, [[("a", "CALLS", "b")]], ["a", "b"]),
        ({"name": "a", "triples": [{"s": "a", "t": "CALLS", "o": "b"}]}, [[("a", "CALLS", "b")]], ["a", "b"]),
        ({"p": Path(a)}, [], ["a"]),
        ({"id": "a", "p": None}, None, ["a"]),
        (
            {"content": "x", "tool_name": "t", "metadata": {"id": "a", "edges": [["a", "R", "b"]]}},
            [[("a", "R", "b")]],
            ["a", "b"],
        ),
    ]
    for columns, walk, retrieved in kinds:
        (answer,) = read("neo4j-graphrag", [logged(record_item(recorded(**columns)))])
        assert (edges(answer), names(answer)) == (walk, retrieved), columns


def test_a_retriever_of_retrievers() -> None:
    """Items that a tool's retriever formatted without loss stay so when they are formatted or recorded again."""
    inner = record_item(walked_back())
    outer = recorded(content=inner["content"], tool_name="t", metadata={**inner["metadata"], "tool": "t"})
    for item in (record_item(outer), {"content": str(outer), "metadata": outer["metadata"]}):
        (answer,) = read("neo4j-graphrag", [logged(item)])
        assert edges(answer) == [[("a", "CALLS", "b"), ("a", "USES", "c"), ("c", "CALLS", "d")]]
        assert names(answer) == ["b", "a", "c", "d"]
    for text in (str(walked_back()), "<Record id='b'>"):
        unformatted = recorded(content=text, tool_name="t", metadata={"tool": "t"})
        line = logged({"content": str(unformatted), "metadata": {"tool": "t"}})
        if "Path" in text:
            with pytest.raises(graphkit.InputError, match="1 of 1 paths were cut"):
                read("neo4j-graphrag", [line])
        else:
            assert names(read("neo4j-graphrag", [line])[0]) == ["b"]


def test_values_of_each_kind() -> None:
    """Whatever the driver gives becomes plain JSON; vectors and embeddings are left out."""
    long = [0.5] * (LONGEST_NUMBERS + 1)
    node = Built().node("a", at=DateTime(2026, 1, 2), nan=float("nan"), tags=["x"], vector=Vector([1.0], "f32"), e=long)
    item = record_item(recorded(node=node, embedding=long, bytes=b"x", short=[0.5]))
    assert item["metadata"]["record"] == {
        "node": {
            "elementId": node.element_id,
            "labels": ["Code"],
            "properties": {"qname": "a", "at": "2026-01-02T00:00:00.000000000", "nan": None, "tags": ["x"]},
        },
        "bytes": "b'x'",
        "short": [0.5],
    }


def test_searches_are_recorded(tmp_path: File) -> None:
    """Each search is a line with its question and time, from the records themselves; what it returns isn't touched."""
    log = tmp_path / "searches.jsonl"
    raw = Raw([walked_back()], {"cypher": "MATCH", "query_vector": [0.5]})
    retriever = Retriever(raw)
    assert graphkit.record_searches(retriever, log) is retriever
    with graphkit.answering("q1"):
        assert retriever.search(query_text="who calls b?", top_k=3) is raw
        retriever.search("again?", question_id="q2")
    retriever.search(query_text="none?")
    retriever.raw = LookupError("no index")
    with graphkit.answering("q3"), pytest.raises(LookupError):
        retriever.search(query_text="what?")
    values = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert raw.metadata == {"cypher": "MATCH", "query_vector": [0.5]}
    assert values[0]["result"]["metadata"] == {"cypher": "MATCH", "__retriever": "Retriever"}
    unread: Counter[str] = Counter()
    first, second, third = read("neo4j-graphrag", values[:3], unread=unread)
    assert not unread
    assert [[query["cypher"] for query in one.queries or ()] for one in (first, second, third)] == [["MATCH"]] * 3
    assert [(answer.question, answer.question_text) for answer in (first, second, third)] == [
        ("q1", "who calls b?"),
        ("q2", "again?"),
        (None, "none?"),
    ]
    assert edges(first) == [[("a", "CALLS", "b"), ("a", "USES", "c"), ("c", "CALLS", "d")]]
    assert first.latency_ms is not None
    assert 0 <= first.latency_ms < 60_000
    assert (values[3]["question_id"], values[3]["error"], values[3]["error_type"]) == ("q3", "no index", "LookupError")


def test_an_earlier_recording_is_not_added_to_unasked(tmp_path: File) -> None:
    """An import takes the first of two answers, so the old one would count; and a search is recorded once."""
    log = tmp_path / "searches.jsonl"
    retriever = Retriever(Raw([recorded(id="x")]))
    for one in (retriever, retriever, Retriever(Raw([]))):
        graphkit.record_searches(one, log)
    retriever.search(query_text="who?", question_id="q1")
    assert len(log.read_text("utf-8").splitlines()) == 1
    with pytest.raises(InputError, match=r"earlier recording(.|\n)*append=True"):
        graphkit.record_searches(retriever, log)
    graphkit.record_searches(retriever, log, append=True).search(query_text="who?", question_id="q1")
    assert len(log.read_text("utf-8").splitlines()) == 2


def test_recorded_in_threads(tmp_path: File) -> None:
    """Searches of many threads each have their own question's id and a line of their own."""
    log = tmp_path / "searches.jsonl"
    retriever = graphkit.record_searches(Retriever(Raw([recorded(id="x" * 5000)])), log)

    def ask(number: int) -> None:
        with graphkit.answering(f"q{number}"):
            for _ in range(5):
                retriever.search(query_text=f"question {number}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    values = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert len(values) == 40
    assert all(value["question"] == f"question {value['question_id'][1:]}" for value in values)


@pytest.fixture
def driver(neo4j_server: Neo4jServer) -> Any:
    """The driver of a real Neo4j in which a calls b, and c uses b."""
    settings = neo4j_server.settings
    password = None if settings.password is None else (settings.username, settings.password)
    assert settings.uri is not None
    with neo4j.GraphDatabase.driver(settings.uri, auth=password) as opened:
        opened.execute_query("MATCH (n) DETACH DELETE n")
        opened.execute_query(
            "CREATE (a:Code {qname: 'a', at: datetime('2026-01-02'), text: 'def a'}), "
            "(b:Code {qname: 'b'}), (c:Code {qname: 'c'}), (a)-[:CALLS]->(b), (c)-[:USES]->(b)"
        )
        yield opened
        opened.execute_query("MATCH (n) DETACH DELETE n")


WALK = "MATCH p = (a:Code {qname: 'a'})-[:CALLS]->(b)<-[:USES]-(c) RETURN p, a.qname AS id, 0.5 AS score"


def test_a_real_neo4j(driver: Any) -> None:
    """A path of Neo4j's own keeps the direction of the edge that it goes against; its text loses it."""
    (record,) = driver.execute_query(WALK).records
    (answer,) = read("neo4j-graphrag", [logged(record_item(record))])
    assert edges(answer) == [[("a", "CALLS", "b"), ("c", "USES", "b")]]
    assert answer.ordered is True
    with pytest.raises(graphkit.InputError, match="1 of 1 paths were cut"):
        read("neo4j-graphrag", [logged({"content": str(record), "metadata": None})])
    # Without its nodes a relationship has the ids of its ends alone.
    (bare,) = driver.execute_query("MATCH (:Code {qname: 'a'})-[r]->() RETURN r").records
    (answer,) = read("neo4j-graphrag", [logged(record_item(bare))])
    assert [[is_element_id(edge.source) for edge in path] for path in answer.traversal or ()] == [[True]]


def test_the_library(driver: Any, tmp_path: File) -> None:
    """neo4j-graphrag's own retriever and RAG: formatted, recorded, and read as the query returned it."""
    if ENVIRONMENT.get("GRAPHKIT_REQUIRE_NEO4J_GRAPHRAG") != "1":
        pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag isn't installed")
    from neo4j_graphrag.generation import GraphRAG
    from neo4j_graphrag.llm import LLMInterface, LLMResponse
    from neo4j_graphrag.retrievers import Text2CypherRetriever

    class Model(LLMInterface):  # type: ignore[misc]
        def invoke(self, *_: Any, **__: Any) -> Any:
            return LLMResponse(content=WALK)

        async def ainvoke(self, *_: Any, **__: Any) -> Any:
            return self.invoke()

    model = Model(model_name="same")
    retriever = Text2CypherRetriever(
        driver, model, neo4j_schema="(:Code)", result_formatter=graphkit.neo4j_graphrag_formatter
    )
    log = tmp_path / "searches.jsonl"
    graphkit.record_searches(retriever, log)
    with graphkit.answering("q"):
        result = GraphRAG(retriever, model).search("who?", return_context=True)
    formatted = {"question_id": "q", **json.loads(result.model_dump_json())}
    values = [formatted, *map(json.loads, log.read_text("utf-8").splitlines())]
    for value in values:
        (answer,) = read("neo4j-graphrag", [value])
        assert edges(answer) == [[("a", "CALLS", "b"), ("c", "USES", "b")]]
        assert (answer.question, names(answer), answer.ordered) == ("q", ["a", "b", "c"], True)
    assert len(values) == 2
