"""neo4j-graphrag's results: items, records as text and as JSON, and what can only mislead."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.graph_objects import SHORT_PATHS, UNDIRECTED
from graphkit.plugins.logs.graph_values import (
    CHUNKS_ONLY,
    NAME_THE_COLUMNS,
    UNREAD_EDGES,
)
from graphkit.plugins.logs.neo4j_graphrag import NO_COLUMNS, NO_CONTEXT, UNPARSED
from graphkit.plugins.logs.triples import JOINED_EDGES
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedChunk, ReadOptions, UnreadableLogError
from graphkit.records.doubts import NAMELESS, NO_NAMES
from tests.helpers.datasets import SharedLog
from tests.plugins.logs.shared_logs import edges, names, read, survives

ELEMENT = "4:8718b093-462d-48a1-90a9-c49cd235a8be:{}"


def items(*given: Any, **metadata: Any) -> dict[str, Any]:
    """Return a line with a RetrieverResult, from the contents or the metadata of its items."""
    inner = [one if isinstance(one, dict) and "content" in one else {"content": one, "metadata": None} for one in given]
    return {"question_id": "q", "result": {"items": inner, "metadata": metadata}}


def node(name: str, number: int) -> str:
    """Return a node as the driver's repr has it."""
    return f"<Node element_id={ELEMENT.format(number)!r} labels=frozenset({{'Code'}}) properties={{'qname': {name!r}}}>"


def path(size: int, start: str = "a", end: str = "b") -> str:
    """Return a path as the driver's repr has it: its ends and its size."""
    return f"<Path start={node(start, 1)} end={node(end, 2)} size={size}>"


def test_triples_in_the_metadata(shared_log: SharedLog) -> None:
    """n1 and n2 of the real log: five items each, and the triples of their metadata as they stand, each edge once."""
    unread: Counter[str] = Counter()
    first, second, third, *_ = read(
        "neo4j-graphrag", shared_log("neo4j-graphrag/vector_cypher_formatter.jsonl.gz"), unread=unread
    )
    assert (first.question, second.question, third.question) == ("n1", "n2", "n3")
    indexes, errors = "neo4j_graphrag.indexes.create_vector_index", "neo4j_graphrag.exceptions.Neo4jIndexError"
    store = "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector"
    assert edges(first) == [
        [
            (indexes, "CALLS", "neo4j_graphrag.types.VectorIndexModel"),
            (indexes, "CALLS", errors),
            (indexes, "RAISES", errors),
            (f"{store}.create_new_index", "CALLS", indexes),
            (store, "INHERITS", "langchain_core.vectorstores.base.VectorStore"),
        ]
    ]
    assert first.ordered is False
    assert names(first) == [
        "langchain_neo4j.vectorstores.neo4j_vector",
        "neo4j_graphrag",
        indexes,
        f"{store}.create_new_index",
        store,
        # The ends of the triples, which nothing ranks.
        "neo4j_graphrag.types.VectorIndexModel",
        errors,
        "langchain_core.vectorstores.base.VectorStore",
    ]
    assert first.retrieved is not None
    assert (first.retrieved[0].score, first.retrieved[0].commit) == (0.7918643951416016, "0.11.0")
    assert first.latency_ms == pytest.approx(1156.4042950000157)
    # n2: 1 + 3 + 1 + 1 + 8 triples of its five items, all different. n3: lists of triples, all empty.
    assert [len(walked) for walked in second.traversal or ()] == [14]
    assert third.traversal == []
    assert set(unread) == {"metadata.query_vector", "items.metadata.package"}


def test_rag_with_its_context(shared_log: SharedLog) -> None:
    """n1 of the real log: the answer beside the edges of what was retrieved; n2 has its seven."""
    first, second, *_ = read("neo4j-graphrag", shared_log("neo4j-graphrag/hybrid_cypher_formatter.jsonl.gz"))
    assert first.answer is not None
    assert first.answer.startswith("Answer:            fail_if_exists=False,")
    assert ("langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector.create_new_index") in (names(first) or ())
    assert [len(walked) for walked in first.traversal or ()] == [5]
    assert [len(walked) for walked in second.traversal or ()] == [7]
    assert first.retrieved is not None
    assert [chunk.score for chunk in first.retrieved][:3] == [1.0, 1.0, 0.9897920104055015]


def test_nodes_as_text(shared_log: SharedLog) -> None:
    """n1 and n2 of the real log: nodes are named by their properties, not by elementIds, and no edges were logged."""
    first, second, *_ = read("neo4j-graphrag", shared_log("neo4j-graphrag/vector_plain.jsonl.gz"))
    assert (names(first) or ())[2:4] == [
        "neo4j_graphrag.indexes.create_vector_index",
        "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector.create_new_index",
    ]
    assert (names(second) or [])[1] == "langchain_core.vectorstores.base.VectorStore.search"
    assert first.retrieved is not None
    assert first.retrieved[2].text is not None
    assert first.retrieved[2].text.startswith("def create_vector_index(")
    assert (first.traversal, first.notes) == (None, [])


def test_records_of_text2cypher(shared_log: SharedLog) -> None:
    """n1 and n2 of the real log return a, r and b: both nodes, and the relationship with its type and direction."""
    for answer in read("neo4j-graphrag", shared_log("neo4j-graphrag/text2cypher.jsonl.gz"))[:2]:
        start = "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector.create_new_index"
        end = "neo4j_graphrag.indexes.create_vector_index"
        assert names(answer) == [start, end]
        assert edges(answer) == [[(start, "CALLS", end)]]
        assert answer.retrieved is not None
        assert [chunk.commit for chunk in answer.retrieved] == ["0.11.0", "1.21.0"]


def test_cut_paths_are_refused(shared_log: SharedLog) -> None:
    """The real log of the default formatter holds paths of two edges as their ends: 6 of the 11 of n1 do."""
    log = shared_log("neo4j-graphrag/vector_cypher_default.jsonl.gz")
    with pytest.raises(UnreadableLogError, match=r"^log:1: 6 of 11 paths were cut") as caught:
        read("neo4j-graphrag", log)
    assert "graphkit.neo4j_graphrag_formatter" in (caught.value.remedy or "")
    answers = read("neo4j-graphrag", log, ReadOptions(chunks_only=True))
    # Each question retrieved five nodes; those with several paths have a record for each path.
    assert [len(answer.retrieved or ()) for answer in answers] == [5] * 8
    assert {answer.traversal is None for answer in answers} == {True}
    assert all(CHUNKS_ONLY in answer.notes for answer in answers)
    assert (names(answers[0]) or ())[:2] == ["langchain_neo4j.vectorstores.neo4j_vector", "neo4j_graphrag"]


def test_a_path_of_one_edge() -> None:
    """Its text tells both ends and neither relation nor direction; a path of no edge tells all."""
    (answer,) = read("neo4j-graphrag", [items(f"<Record p={path(1)}>", f"<Record p={path(0, 'c', 'c')}>")])
    assert edges(answer) == [[("[a]", None, "[b]")]]
    assert names(answer) == ["a", "b", "c"]
    assert answer.notes == [SHORT_PATHS]


def test_a_text_about_paths_is_no_path() -> None:
    """The text of a property stays text, whatever it looks like."""
    text = f"'> p={path(2)}>"
    (answer,) = read("neo4j-graphrag", [items(f"<Record id='x' text={text!r}>")])
    assert answer.retrieved == [LoggedChunk("x", text)]
    assert answer.traversal is None


def test_a_cut_text() -> None:
    """A record's text that was cut keeps its rank without a name; cut within a path, it is refused."""
    (answer,) = read("neo4j-graphrag", [items("<Record id='a'>", "<Record id='b")])
    assert names(answer) == ["a", "(no name: 2)"]
    assert answer.notes == [UNPARSED, NAMELESS]
    with pytest.raises(UnreadableLogError, match="1 of 1 paths were cut"):
        read("neo4j-graphrag", [items(f"<Record id='b' p={path(1)[:-9]}")])


def test_no_path_where_others_have_one() -> None:
    """A null column is an empty walk if other questions have paths in it; otherwise the walk is unknown."""
    without, with_path = items("<Record id='a' p=None n=None>"), items(f"<Record id='a' p={path(1)} n=None>")
    for log in ([without, with_path], [with_path, without]):
        assert sorted(len(answer.traversal or ()) for answer in read("neo4j-graphrag", log)) == [0, 1]
        assert [answer.traversal is None for answer in read("neo4j-graphrag", log)] == [False, False]
    assert [answer.where for answer in read("neo4j-graphrag", [without, without, with_path])] == [
        "log:1",
        "log:2",
        "log:3",
    ]
    assert read("neo4j-graphrag", [without])[0].traversal is None


@pytest.mark.parametrize(
    "triples",
    [
        [{"s": "a", "t": "R", "o": "b"}],
        [{"s": "a", "p": "R", "o": "b"}],
        [{"s": "a", "r": "R", "t": "b"}],
        [{"source": "a", "relation": "R", "target": "b"}],
        [{"source": {"id": "a"}, "type": "R", "target": {"qname": "b"}}],
        [{"start_node": "a", "rel_type": "R", "end_node": "b"}],
        [{"subject": "a", "predicate": "R", "object": "b"}],
        [{"head": "a", "relation": "R", "tail": "b", "score": 1}],
        [{"from": "a", "label": "R", "to": "b"}],
        [{"type": "R", "start": "a", "end": "b"}],
        [["a", "R", "b"]],
        [["a", "R", "b"], ["a", "R", "b"]],
    ],
)
@pytest.mark.parametrize("key", ["triples", "edges", "relationships"])
def test_common_names_of_edges(key: str, triples: list[Any]) -> None:
    """Edges are read under the names that people give them, each once."""
    (answer,) = read("neo4j-graphrag", [items({"content": "text", "metadata": {"id": "a", key: triples}})])
    assert edges(answer) == [[("a", "R", "b")]]
    assert answer.retrieved == [LoggedChunk("a", "text"), LoggedChunk("b")]


def test_edges_of_no_known_form() -> None:
    """An unreadable edge is reported, and isn't an empty walk."""
    (answer,) = read(
        "neo4j-graphrag", [items({"content": "", "metadata": {"id": "a", "triples": ["a R b", {"x": 1}]}})]
    )
    assert (answer.traversal, answer.notes) == (None, [UNREAD_EDGES])


def test_names() -> None:
    """A node's name is in the metadata or the content; elementIds are the last resort, which the import reports."""
    element = ELEMENT.format(7)
    (answer,) = read(
        "neo4j-graphrag",
        [
            items(
                {"content": "{'name': 'Ann', 'born': neo4j.time.Date(1990, 1, 2)}", "metadata": {"id": element}},
                {"content": '{"title": "json", "at": null}', "metadata": {"score": 0.5}},
                {"content": "only text", "metadata": {"id": element}},
                {"content": {"uid": 12}, "metadata": {}},
            )
        ],
    )
    assert names(answer) == ["Ann", "json", element, "12"]
    (nameless,) = read("neo4j-graphrag", [items("only text", "more text")])
    assert (nameless.retrieved, nameless.notes) == (None, [NO_NAMES])
    (nothing,) = read("neo4j-graphrag", [items()])
    assert (nothing.retrieved, nothing.traversal) == ([], None)


def test_rag_without_its_context() -> None:
    """An answer without return_context says nothing of what was retrieved."""
    (answer,) = read("neo4j-graphrag", [{"id": "q", "answer": "yes", "retriever_result": None}])
    assert (answer.question, answer.answer, answer.retrieved, answer.traversal) == ("q", "yes", None, None)
    assert answer.notes == [NO_CONTEXT]


def test_errors() -> None:
    """A line with an error in the result's place, and what a ToolsRetriever swallowed, are errors."""
    reader = reader_of("neo4j-graphrag")
    values = [
        ("log:1", {"question_id": "q1", "error": "no index", "error_type": "Neo4jError"}),
        ("log:2", items(query="who?", error="time-out", error_type="TimeoutError")),
    ]
    first, second = reader.read(values, ReadOptions(), Counter())
    assert (first.error, first.error_type, first.retrieved) == ("no index", "Neo4jError", None)
    assert (second.error, second.error_type, second.question_text) == ("time-out", "TimeoutError", "who?")


def test_an_error_beside_a_result() -> None:
    """An error that the user wrote around a result stays, and what failed isn't said to have walked nothing."""
    failed = {**items(), "error": "cut off"}
    failed["result"]["metadata"] = {"k": 1}
    some = items({"content": "", "metadata": {"id": "a", "edges": [["a", "R", "b"]]}})
    first, second = read("neo4j-graphrag", [failed, some])
    assert (first.error, first.traversal) == ("cut off", None)
    assert len(second.traversal or ()) == 1


def test_paths_among_edges() -> None:
    """If edges stand beside paths, no order is reported: all are one set."""
    paths = {
        "p": {"nodes": [], "relationships": [{"type": "R", "start": one, "end": two} for one, two in ("ab", "bc")]}
    }
    (ordered,) = read("neo4j-graphrag", [raw({"id": "a", **paths})])
    assert (edges(ordered), ordered.ordered) == ([[("a", "R", "b"), ("b", "R", "c")]], True)
    (mixed,) = read("neo4j-graphrag", [raw({"id": "a", **paths, "triples": [["c", "S", "d"], ["a", "R", "b"]]})])
    assert (edges(mixed), mixed.ordered) == ([[("a", "R", "b"), ("b", "R", "c"), ("c", "S", "d")]], False)


def raw(*records: Any, cypher: str | None = None) -> dict[str, Any]:
    """Return a line with a RawSearchResult."""
    return {"question_id": "q", "result": {"records": list(records), "metadata": {"cypher": cypher}}}


def test_raw_records_as_text() -> None:
    """Records that were written by str() are read as those in items."""
    (answer,) = read("neo4j-graphrag", [raw(f"<Record a={node('a', 1)}>")])
    assert names(answer) == ["a"]


def test_raw_records_without_their_columns() -> None:
    """``model_dump`` drops the columns' names, and ``default=str`` makes texts of what they hold."""
    (answer,) = read("neo4j-graphrag", [raw(["x", 0.5, node("a", 1)])])
    assert names(answer) == ["a"]
    with pytest.raises(UnreadableLogError, match="1 of 1 paths were cut"):
        read("neo4j-graphrag", [raw(["x", path(3)])])


def test_columns_that_model_dump_drops() -> None:
    """Values without their columns' names are reported as unknown; the user names them by place."""
    value = raw(["a", "CALLS", "b"])
    value["result"]["metadata"] = None
    (answer,) = read("neo4j-graphrag", [value])
    assert (names(answer), answer.traversal, NO_COLUMNS in answer.notes) == (["(no name: 1)"], None, True)
    columns = ReadOptions(columns=("column 1", "column 2", "column 3"))
    (answer,) = read("neo4j-graphrag", [value], columns)
    assert (edges(answer), NO_COLUMNS in answer.notes) == ([[("a", "CALLS", "b")]], False)
    # default=str makes texts of objects, also of those in lists.
    relationship = f"<Relationship element_id='5' nodes=({node('a', 1)}, {node('b', 2)}) type='CALLS' properties={{}}>"
    (answer,) = read("neo4j-graphrag", [raw([node("a", 1), [relationship]])])
    assert edges(answer) == [[("a", "CALLS", "b")]]
    (answer,) = read("neo4j-graphrag", [raw({"node": node("a", 1), "rels": [relationship]})])
    assert (names(answer), edges(answer)) == (["a", "b"], [[("a", "CALLS", "b")]])


def test_rows_alone() -> None:
    """A list of rows is read where the format was named, which isn't recognised by itself: any library has rows."""
    reader = reader_of("neo4j-graphrag")
    walked = [{"qname": "a"}, "CALLS", {"qname": "b"}]
    for rows in ([{"p": walked}], [{"source": "a", "relation": "CALLS", "target": "b"}]):
        value = {"question_id": "q", "result": rows}
        assert not reader.recognises(value)
        (answer,) = reader.read([("log:1", value)], ReadOptions(), Counter())
        assert [(edge.source, edge.relation, edge.target) for edge in (answer.traversal or [[]])[0]] == [
            ("a", "CALLS", "b")
        ]
    with pytest.raises(UnreadableLogError, match="nothing in it"):
        list(reader.read([("log:1", {"result": [{"colour": "red"}]})], ReadOptions(), Counter()))


MODELS = (
    "items=[RetrieverResultItem(content='It\\'s a', metadata={'id': 'a', 'triples': [('a', 'R', 'b')]})] metadata=None",
    "RetrieverResult(items=[RetrieverResultItem(content='x', metadata={'id': 'a', 'edges': [['a', 'R', 'b']]})], "
    "metadata={'cypher': None})",
    "records=[<Record id='a' triples=[['a', 'R', 'b']]>] metadata={'__retriever': 'VectorCypherRetriever'}",
    "answer='Yes' retriever_result=RetrieverResult(items=[RetrieverResultItem(content='x', "
    "metadata={'id': 'a', 'edges': [['a', 'R', 'b']]})], metadata=None)",
)


@pytest.mark.parametrize("text", MODELS)
def test_models_as_text(text: str) -> None:
    """str() and repr() of the library's models are read completely, under a key, in a pair or as a whole file."""
    for value in ({"question_id": "q", "result": text}, ["q", text], text):
        (answer,) = read("neo4j-graphrag", [value])
        assert (names(answer), edges(answer)) == (["a", "b"], [[("a", "R", "b")]])
        assert (answer.question, answer.answer) == ("q" if value != text else None, "Yes" if "Yes" in text else None)
    with pytest.raises(UnreadableLogError, match="an object's text"):
        list(reader_of("neo4j-graphrag").read([("log:1", {"id": "q", "result": text[:-9]})], ReadOptions(), Counter()))


def tool(content: str, **metadata: Any) -> dict[str, Any]:
    """Return an item of a ToolsRetriever around that of a tool's retriever."""
    metadata = {**metadata, "tool": "t"}
    return {"content": f"<Record content={content!r} tool_name='t' metadata={metadata!r}>", "metadata": metadata}


def test_what_tools_retrieved() -> None:
    """The items of each tool's retriever are read as they were without it: nodes, records and objects."""
    (answer,) = read(
        "neo4j-graphrag",
        [
            items(
                tool("{'qname': 'a'}", id=ELEMENT.format(1), score=0.5),
                tool("<Record id='b' edges=[['b', 'R', 'c']]>"),
                tool(node("d", 4)),
            )
        ],
    )
    assert (names(answer), edges(answer)) == (["a", "b", "d", "c"], [[("b", "R", "c")]])
    assert answer.retrieved is not None
    assert (answer.retrieved[0].score, answer.notes) == (0.5, [])


def test_edges_that_a_query_joined() -> None:
    """Lines such as A - REL(details) -> B are edges; prose with an arrow isn't, nor is a relation in small letters."""
    text = (
        "=== text ===\nIt goes -> on. A - is -> B\n=== kg ===\npkg.a - CALLS(twice, a) -> pkg.b\n---\n(b)-[:USES]->(c)"
    )
    for value in (items({"content": f"<Record info={text!r}>", "metadata": None}), raw([text]), raw({"info": text})):
        (answer,) = read("neo4j-graphrag", [value])
        assert edges(answer) == [[("pkg.a", "CALLS", "pkg.b"), ("b", "USES", "c")]]
        assert (names(answer), answer.notes) == (["pkg.a", "pkg.b", "b", "c"], [JOINED_EDGES])


def test_columns_called_by_a_property() -> None:
    """A column such as a.name names a node, as Text2Cypher's queries return it; one with other words doesn't."""
    (answer,) = read("neo4j-graphrag", [raw({"a.name": "x"}, {"m.title": "y", "m.year": 1999}, {"count(a)": 3})])
    assert names(answer) == ["x", "y", "(no name: 3)"]


def test_data_of_records() -> None:
    """``Record.data()`` has paths as nodes and types by turns, whose direction is lost, and nodes as maps."""
    walked = [{"qname": "a"}, "CALLS", {"qname": "b"}, "USES", {"qname": "c"}]
    (answer,) = read("neo4j-graphrag", [raw({"p": walked}, {"n": {"qname": "d"}, "score": 0.5})])
    assert edges(answer) == [[("[a]", "CALLS", "[b]"), ("[b]", "USES", "[c]")]]
    assert answer.ordered is True
    assert names(answer) == ["a", "b", "c", "d"]
    assert answer.notes == [UNDIRECTED]


def test_paths_of_neo4js_tools() -> None:
    """Browser's JSON has segments: their order is the walk's, and start and end of each relationship its direction."""
    nodes = [
        {"identity": n, "labels": ["X"], "properties": {"name": name}, "elementId": ELEMENT.format(n)}
        for n, name in enumerate("abc")
    ]

    def relationship(start: int, end: int) -> dict[str, Any]:
        ends = {"startNodeElementId": ELEMENT.format(start), "endNodeElementId": ELEMENT.format(end)}
        return {"identity": 1, "start": start, "end": end, "type": "R", "properties": {}, **ends}

    segments = [
        {"start": nodes[0], "relationship": relationship(1, 0), "end": nodes[1]},
        {"start": nodes[1], "relationship": relationship(1, 2), "end": nodes[2]},
    ]
    (answer,) = read("neo4j-graphrag", [raw({"p": {"start": nodes[0], "end": nodes[2], "segments": segments}})])
    assert edges(answer) == [[("b", "R", "a"), ("b", "R", "c")]]
    assert (answer.ordered, names(answer)) == (True, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("row", "cypher", "columns", "expected"),
    [
        ({"a": "x", "r": "CALLS", "b": "y"}, "MATCH (a:C)-[r:CALLS]->(b) RETURN", None, ("x", "CALLS", "y")),
        ({"a": "x", "r": "CALLS", "b": "y"}, "MATCH (a)<-[r]-(b) RETURN", None, ("y", "CALLS", "x")),
        ({"a": "x", "r": "CALLS", "b": "y"}, "MATCH (a)-[r]-(b) RETURN", None, ("[x]", "CALLS", "[y]")),
        ({"a.qname": "x", "type(r)": "CALLS", "b.qname": "y"}, None, None, ("[x]", "CALLS", "[y]")),
        ({"a": "x", "r": "CALLS", "b": "y"}, None, ("b", "r", "a"), ("y", "CALLS", "x")),
        ({"source": "x", "relation": "calls", "target": "y"}, None, None, ("x", "calls", "y")),
        ({"from": "x", "type": "calls", "to": "y", "n": 3}, None, None, ("x", "calls", "y")),
    ],
)
def test_rows_of_columns(row: Any, cypher: str | None, columns: Any, expected: Any) -> None:
    """The user's columns go first, then names that say an edge, then a, r and b with the query's own direction."""
    (answer,) = read("neo4j-graphrag", [raw(row, cypher=cypher)], ReadOptions(columns=columns))
    assert edges(answer) == [[expected]]
    assert sorted(names(answer) or ()) == ["x", "y"]


@pytest.mark.parametrize(
    "row",
    [
        {"a": "x", "r": "CALLS", "b": "ALSO"},  # two that could be a type of relation
        {"a": "x", "r": "calls him", "b": "y"},  # none
        {"caller": "x", "how": "CALLS", "callee": "y"},  # names that say nothing
    ],
)
def test_rows_that_could_be_anything(row: Any) -> None:
    """If the columns don't tell, no edge is made up, and naming the columns is asked for."""
    (answer,) = read("neo4j-graphrag", [raw(row)])
    assert (answer.traversal, names(answer)) == (None, ["(no name: 1)"])
    assert NAME_THE_COLUMNS in answer.notes


def test_a_relation_beside_a_name() -> None:
    """A row with columns id and relation, but no source, is a chunk; a note says that it could be an edge."""
    row = {"id": "a", "relation": "CALLS", "other": "b"}
    (answer,) = read("neo4j-graphrag", [raw(row)])
    assert (names(answer), answer.traversal, answer.notes) == (["a"], None, [NAME_THE_COLUMNS])
    (answer,) = read("neo4j-graphrag", [raw(row)], ReadOptions(columns=("id", "relation", "other")))
    assert (edges(answer), answer.notes) == ([[("a", "CALLS", "b")]], [])


def test_columns_that_arent_there() -> None:
    """The user's columns that a row lacks are reported with those that it has."""
    (answer,) = read("neo4j-graphrag", [raw({"a": "x", "b": "y"})], ReadOptions(columns=("s", "r", "t")))
    assert "rows without the columns s, r, t: they have a, b" in answer.notes


@pytest.mark.parametrize(
    "value",
    [
        {"items": [{"name": "x"}]},
        {"items": []},
        {"records": []},
        {"answer": "x"},
        {"records": [1]},
        ["x"],
        "x",
        {"retrieved": [{"id": "a"}]},
    ],
)
def test_what_it_isnt(value: Any) -> None:
    """Other objects aren't taken for the library's."""
    assert not reader_of("neo4j-graphrag").recognises(value)


@pytest.mark.parametrize(
    "value",
    [
        items(
            f"<Record a={node('a', 1)} p={path(1)}>",
            {"content": "x", "metadata": {"id": "a", "edges": [["a", "R", "b"]]}},
        ),
        {"question_id": "q", "answer": "yes", "retriever_result": items("<Record id='a'>", cypher="MATCH")["result"]},
        raw({"p": [{"qname": "a"}, "R", {"qname": "b"}], "a": {"labels": [], "properties": {"id": 1}}}, [node("a", 1)]),
    ],
)
def test_spoiled_values(value: Any) -> None:
    """Whatever stands in any place of a result, it is read or refused."""
    assert survives("neo4j-graphrag", value) > 100
