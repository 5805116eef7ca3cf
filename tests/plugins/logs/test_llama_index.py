"""The reader of the logs of LlamaIndex."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.llama_index import LlamaIndexReader
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError
from tests.helpers.datasets import SharedLog

PLAIN = ReadOptions()
UUIDS = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(4)]
PREAMBLE = "Here are some facts extracted from the provided text:\n\n"
WORKS = LoggedEdge("Ann", "WORKS_AT", "Acme")
KNOWS = LoggedEdge("Ann", "KNOWS", "Bob")


def node(text: str, id_: str = UUIDS[0], source: str | None = None, score: Any = 0.5, **more: Any) -> dict[str, Any]:
    """Return a NodeWithScore."""
    related = {} if source is None else {"1": {"node_id": source, "class_name": "RelatedNodeInfo"}}
    inner = {"id_": id_, "embedding": None, "metadata": {}, "relationships": related, "text": text} | more
    return {"node": inner | {"class_name": "TextNode"}, "score": score, "class_name": "NodeWithScore"}


def read_all(*values: Any, options: ReadOptions = PLAIN, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Return what the values of a file say."""
    counted = Counter() if unread is None else unread
    return list(
        LlamaIndexReader().read(((f"log:{line}", value) for line, value in enumerate(values, 1)), options, counted)
    )


def read(nodes: list[Any], options: ReadOptions = PLAIN, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return what a question's nodes say."""
    value = {"question_id": "q1", "nodes": nodes}
    assert LlamaIndexReader().recognises(value)
    (logged,) = read_all(value, options=options, unread=unread)
    return logged


def names(logged: LoggedAnswer) -> list[str] | None:
    """Return the names of what was retrieved."""
    return None if logged.retrieved is None else [chunk.name for chunk in logged.retrieved]


def test_edges() -> None:
    """A node is an edge: its ends have its place, and the chunk that it comes from follows all items."""
    unread: Counter[str] = Counter()
    nodes = [node("Ann -> WORKS_AT -> Acme", UUIDS[0], "a.md", 0.7), node("Ann -> KNOWS -> Bob", UUIDS[1], "a.md", 0.0)]
    logged = read(nodes, unread=unread)
    assert (logged.question, logged.traversal, logged.ordered, logged.notes) == ("q1", [[WORKS, KNOWS]], False, [])
    assert names(logged) == ["Ann", "Acme", "Bob", "a.md"]
    assert logged.retrieved is not None
    assert [chunk.score for chunk in logged.retrieved] == [None, None, None, 0.7]
    assert logged.retrieved[3].text == "Ann -> WORKS_AT -> Acme\n\nAnn -> KNOWS -> Bob"
    assert unread == {}


def test_edges_without_a_chunk() -> None:
    """The id of an edge's node is drawn at random; where no chunk is known, its ends alone were retrieved."""
    assert names(read([node("Ann -> KNOWS -> Bob")])) == ["Ann", "Bob"]


def test_edges_above_the_text_of_their_chunk() -> None:
    """With include_text the lines up to the empty one are edges, and the chunk's text is what follows them."""
    text = f"{PREAMBLE}Ann -> WORKS_AT -> Acme\nAnn -> KNOWS -> Bob\n\nAnn works.\n\nx -> y -> z"
    again = node(f"{PREAMBLE}Ann -> KNOWS -> Bob\n\nBob.", "b.md", score=0.0)
    logged = read([node(text, "a.md", score=0.7), again])
    assert (logged.traversal, names(logged)) == ([[WORKS, KNOWS]], ["Ann", "Acme", "Bob", "a.md", "b.md"])
    assert logged.retrieved is not None
    assert [(chunk.text, chunk.score) for chunk in logged.retrieved[3:]] == [
        ("Ann works.\n\nx -> y -> z", 0.7),
        ("Bob.", 0.0),
    ]


@pytest.mark.parametrize("preamble", ["", "Known:\n", "This is known.\nOf Ann:\n\n"])
def test_another_preamble(preamble: str) -> None:
    """If each node has edges at its head, below another preamble or none, they are read, and it is reported."""
    texts = [f"{preamble}Ann -> WORKS_AT -> Acme\n\nAnn works.", f"{preamble}Ann -> KNOWS -> Bob\n\nBob."]
    logged = read([node(texts[0], "a.md"), node(texts[1], "b.md")])
    assert logged.traversal == [[WORKS, KNOWS]]
    assert logged.retrieved is not None
    assert {chunk.name: chunk.text for chunk in logged.retrieved}["a.md"] == "Ann works."
    assert [note[:37] for note in logged.notes] == ["edges stand at the head of texts that"]


def test_prose_with_arrows() -> None:
    """One plain chunk with arrows at its beginning is prose cut from a document, since the others have none."""
    logged = read([node("a -> b -> c\n\nmore", "a.md"), node("Plain.", "b.md")])
    assert (logged.traversal, names(logged)) == (None, ["a.md", "b.md"])
    assert read([node("a -> b -> c", "a.md", start_char_idx=0)]).traversal is None


def test_properties() -> None:
    """With include_properties, properties stand in parentheses behind the names, and may hold arrows themselves."""
    text = "Ann ({'note': 'x -> y'}) -> WORKS_AT ({'since': 2001}) -> Acme ({'in': 'Bern'})"
    assert read([node(text)]).traversal == [[WORKS]]
    assert read([node("f(x) -> CALLS -> g ({'n': '(1)'})")]).traversal == [[LoggedEdge("f(x)", "CALLS", "g")]]


def test_names_with_arrows() -> None:
    """If other edges tell which part is the relation, it decides; else the edge is skipped; both are noted."""
    odd = node("Ann -> KNOWS -> Bob -> Jr")
    assert read([odd, node("Bob -> KNOWS -> Ann")]).traversal == [
        [LoggedEdge("Ann", "KNOWS", "Bob -> Jr"), LoggedEdge("Bob", "KNOWS", "Ann")]
    ]
    logged = read([odd, node("Ann -> WORKS_AT -> Acme")])
    assert (logged.traversal, [note[-12:] for note in logged.notes]) == ([[WORKS]], [" are skipped"])
    # Both parts are relations of other edges.
    odd_too = node("Ann -> KNOWS -> WORKS_AT -> Jr")
    assert read([odd_too, node("Ann -> WORKS_AT -> Acme"), node("Ann -> KNOWS -> Bob")]).traversal == [[WORKS, KNOWS]]
    # No edge is left: there was one, so that the walk isn't known.
    assert read([odd]).traversal is None
    # The relations that the file has shown before count too.
    reported = [
        read_all({"question_id": "q", "nodes": [node("Bob -> KNOWS -> Ann")]}, {"question_id": "r", "nodes": [odd]})
    ]
    assert reported[0][1].traversal == [[LoggedEdge("Ann", "KNOWS", "Bob -> Jr")]]


def test_lines_that_are_no_edges() -> None:
    """A name with a line break leaves pieces of edges, which are reported."""
    logged = read([node(f"{PREAMBLE}Ann -> KNOWS -> Bob\nof -> Bern\n\nText.", "a.md")])
    assert (logged.traversal, len(logged.notes)) == ([[KNOWS]], 1)


def test_a_vector_index() -> None:
    """Plain chunks tell nothing of a walk; a chunk is called by an id that somebody chose, before its file."""
    file: dict[str, Any] = {"metadata": {"file_path": "docs/a.md", "page": 3}, "start_char_idx": 0}
    unread: Counter[str] = Counter()
    nodes = [
        node("One.", "a.md#1"),
        node("Two.", UUIDS[0], "a.md"),
        node("Three.", UUIDS[1], UUIDS[2], **file),
        node("Four.", UUIDS[3], score=0.1),
    ]
    logged = read(nodes, unread=unread)
    assert (names(logged), logged.traversal) == (["a.md#1", "a.md", "docs/a.md", UUIDS[3]], None)
    assert unread == {"node.metadata.page": 1}


def test_nothing_found() -> None:
    """An empty list is a walk over nothing where the others have edges, and says nothing where they are chunks."""
    empty = {"question_id": "q1", "nodes": []}
    edges = {"question_id": "q2", "nodes": [node("Ann -> KNOWS -> Bob")]}
    chunks = {"question_id": "q2", "nodes": [node("One.", "a.md")]}
    assert [one.traversal for one in read_all(empty, edges, empty)] == [[], [[KNOWS]], []]
    assert [one.traversal for one in read_all(empty, chunks, empty)] == [None, None, None]
    assert [(one.traversal, one.retrieved) for one in read_all(empty)] == [(None, [])]


def test_a_query_engine() -> None:
    """A Response has an answer and source_nodes, with the metadata of the nodes once more."""
    unread: Counter[str] = Counter()
    value = {
        "question_id": "q1",
        "seconds": 2,
        "response": "At Acme.",
        "source_nodes": [node("Ann -> WORKS_AT -> Acme")],
    }
    (logged,) = read_all(value | {"metadata": {UUIDS[0]: {"a": 1}}}, unread=unread)
    assert (logged.answer, logged.latency_ms, logged.traversal) == ("At Acme.", 2000, [[WORKS]])
    assert unread == {"metadata": 1}
    # An answer as data, of a query engine with an output class, is counted.
    read_all(value | {"response": {"city": "Bern"}}, unread=unread)
    assert unread == {"metadata": 1, "response": 1}
    (logged,) = read_all({"question_id": "q1", "result": {"response": None, "source_nodes": [], "metadata": None}})
    assert (logged.answer, logged.retrieved) == (None, [])


@pytest.mark.parametrize(
    "value",
    [
        {"question_id": "q1", "retrieved": [node("Ann -> KNOWS -> Bob")]},
        {"question_id": "q1", "nodes": [node("Ann -> KNOWS -> Bob")["node"]]},
        {"question_id": "q1", "nodes": [{"node": {"__data__": node("Ann -> KNOWS -> Bob")["node"], "__type__": "1"}}]},
        {"question_id": "q1", "nodes": [{"id_": UUIDS[0], "text_resource": {"text": "Ann -> KNOWS -> Bob"}}]},
    ],
    ids=["list", "without scores", "docstore", "text_resource"],
)
def test_other_forms_of_nodes(value: dict[str, Any]) -> None:
    """Lists of the user's, nodes without scores, and nodes as stores and later versions write them are the same."""
    assert LlamaIndexReader().recognises(value)
    assert [(one.question, one.traversal) for one in read_all(value)] == [("q1", [[KNOWS]])]


def test_nodes_one_by_one() -> None:
    """Nodes that follow each other are one question's, as an array of nodes is, or lines with the question's id."""
    first, second = node("Ann -> WORKS_AT -> Acme"), node("Ann -> KNOWS -> Bob")
    assert [one.traversal for one in read_all(first, second)] == [[[WORKS, KNOWS]]]
    lines = [one | {"question_id": name} for name, one in (("q1", first), ("q1", second), ("q2", second))]
    unread: Counter[str] = Counter()
    reported = [(one.question, one.where, one.traversal) for one in read_all(*lines, unread=unread)]
    assert reported == [("q1", "log:1", [[WORKS, KNOWS]]), ("q2", "log:3", [[KNOWS]])]
    assert unread == {}


def test_cypher() -> None:
    """Rows of Cypher are edges by the columns that the user names, also those that Python printed into the text."""
    rows = [{"a": "Ann", "r": "KNOWS", "b": {"name": "Bob"}}, {"a": None, "r": "KNOWS", "b": "Bob"}]
    about: dict[str, Any] = {"metadata": {"query": "MATCH", "response": rows}}
    columns = ReadOptions(columns=("a", "r", "b"))
    for asked in (
        node("Generated Cypher query:\nMATCH\n\nCypher Response:\n[]", **about),
        node(f"Generated Cypher query:\nMATCH\n\nCypher Response:\n{rows}"),
        node(str(rows)),
    ):
        logged = read([asked], columns)
        # The second row has no source: Bob was found, and it is no edge.
        assert (logged.traversal, names(logged)) == ([[KNOWS]], ["Ann", "Bob"])
    assert names(read([node("[{'a': 'a chunk that is a list'}]", source="a.json")])) == ["a.json"]
    nothing = node("Generated Cypher query:", metadata={"query": "MATCH", "response": []})
    logged = read([nothing], columns)
    assert (logged.traversal, logged.retrieved) == ([], [])


def test_cypher_without_columns() -> None:
    """Columns that are called so are edges, and one of the query's variables has the direction of its arrow."""
    reported = node(str([{"source": "Ann", "relation": "KNOWS", "target": "Bob"}]))
    assert read([reported]).traversal == [[KNOWS]]
    query = "Generated Cypher query:\nMATCH (a)<-[r]-(b) RETURN a.name, type(r), b.name\n\nCypher Response:\n"
    guessed = read([node(query + str([{"a.name": "Bob", "type(r)": "KNOWS", "b.name": "Ann"}]))])
    assert (guessed.traversal, names(guessed)) == ([[KNOWS]], ["Ann", "Bob"])
    # Values of the database's own types aren't plain, and a count names nothing.
    odd = read([node(query + "[{'a.name': neo4j.time.DateTime(2026, 1, 1)}]")])
    assert (odd.traversal, odd.retrieved, [note[:14] for note in odd.notes]) == (None, None, ["rows of Cypher"])
    counted = read([node(query + "[{'count(n)': 3}]")])
    assert (counted.traversal, counted.retrieved) == (None, None)


def test_nodes_as_users_write_them() -> None:
    """Nodes as texts of JSON, and source nodes by their id and text alone, are read as those of the library."""
    whole = node("Ann -> KNOWS -> Bob", "x", "a.md", score=0.5)
    logged = read([json.dumps(whole)])
    assert (logged.traversal, names(logged)) == ([[KNOWS]], ["Ann", "Bob", "x"])
    by_hand = {"response": "A", "source_nodes": [{"node_id": "a.md", "content": "Ann -> KNOWS -> Bob", "score": 0.5}]}
    (logged,) = read_all({"question_id": "q", "result": by_hand})
    assert (logged.traversal, logged.answer) == ([[KNOWS]], "A")
    assert not LlamaIndexReader().recognises({"question_id": "q", "nodes": by_hand["source_nodes"]})


def test_tools_of_an_agent() -> None:
    """The sources of an agent's response are the tools that it called; a chat engine's retriever is none of them."""
    opened = {
        "tool_name": "read_node",
        "content": "all about Ann",
        "raw_input": {"args": [], "kwargs": {"node": "Ann"}},
    }
    engine = {"tool_name": "retriever", "content": "...", "raw_input": {"message": "Who?"}}
    unread: Counter[str] = Counter()
    result = {"response": "A", "sources": [opened, engine], "source_nodes": [], "metadata": {}}
    (logged,) = read_all({"question_id": "q", "result": result}, unread=unread)
    assert (logged.opened, [call.name for call in logged.tool_calls or ()]) == (["Ann"], ["read_node"])
    assert unread == {}
    (alone,) = read_all({"question_id": "q", "result": {**result, "sources": [engine]}})
    assert (alone.opened, alone.tool_calls) == (None, None)


def test_events_of_the_instrumentation() -> None:
    """A retrieval and the answer to its question are one answer, with the time between; a retrieval alone is another.

    From 10:00:00 to 10:00:00.5 are 500 ms.
    """
    event = {"id_": "e", "span_id": "s", "tags": {"question_id": "q"}}
    nodes = [node("Ann -> KNOWS -> Bob")]
    bundle = {"query_str": "Whom?"}
    values: list[dict[str, Any]] = [
        {"class_name": "QueryStartEvent", "timestamp": "2026-01-01T10:00:00", "query": "Whom?"},
        {"class_name": "RetrievalEndEvent", "timestamp": "", "str_or_query_bundle": bundle, "nodes": nodes},
        {"class_name": "LLMChatEndEvent", "timestamp": "", "response": {}},
        {"class_name": "QueryEndEvent", "timestamp": "2026-01-01 10:00:00.5", "query": bundle, "response": "Bob"},
        {"class_name": "RetrievalEndEvent", "timestamp": "", "str_or_query_bundle": "Who?", "nodes": nodes},
    ]
    unread: Counter[str] = Counter()
    logged = [{**event, **one} for one in values]
    assert all(map(LlamaIndexReader().recognises, logged))
    first, second = read_all(*logged, unread=unread)
    assert (first.question, first.question_text, first.traversal, first.answer) == ("q", "Whom?", [[KNOWS]], "Bob")
    assert (first.latency_ms, second.question_text, second.traversal) == (500, "Who?", [[KNOWS]])
    assert (second.answer, second.latency_ms, unread) == (None, None, {"events of the kind LLMChatEndEvent": 1})


def test_a_knowledge_graph_index() -> None:
    """The former kind of index gives its paths as data, from their subject or behind it; paths as text are left out."""
    paths = {
        "Ann": [["Ann", "WORKS_AT", "Acme"], ["KNOWS", "Bob", "KNOWS", "Cy"], ["LIKES", None, "IN", "Bern"]],
        "Bob": ["Bob, -[KNOWS]->, Cy"],
    }
    printed = ["['Ann', 'WORKS_AT', 'Acme']", "['KNOWS', 'Bob']", "('Cy', 'IN', 'Bern')"]
    about: dict[str, Any] = {"metadata": {"kg_rel_map": paths, "kg_rel_texts": printed}}
    unread: Counter[str] = Counter()
    chunk = node("Ann works at Acme.", "a.md", score=1000.0)
    logged = read([chunk, node("The following are knowledge sequence", score=1000.0, **about)], unread=unread)
    # The last one was found by its embedding, and isn't below a subject.
    assert logged.traversal == [[WORKS, KNOWS, LoggedEdge("Bob", "KNOWS", "Cy"), LoggedEdge("Cy", "IN", "Bern")]]
    assert names(logged) == ["a.md", "Ann", "Acme", "Bob", "Cy", "Bern"]
    assert ([note[:32] for note in logged.notes], unread) == (["the paths of a knowledge graph i"], {})
    clean: dict[str, Any] = {"kg_rel_map": {"Ann": [["KNOWS", "Bob"]]}, "kg_rel_texts": ["['KNOWS', 'Bob']"]}
    logged = read([node("The following", metadata=clean)])
    assert (logged.traversal, logged.notes) == ([[KNOWS]], [])
    # Found by embeddings, they are printed; what isn't printed as a path is reported.
    by_embeddings = {
        "kg_rel_map": {},
        "kg_rel_texts": ["('Ann', 'WORKS_AT', 'Acme')", "Ann, -[KNOWS]->, Bob", "(" * 999],
    }
    logged = read([node("The following", metadata=by_embeddings)])
    assert (logged.traversal, len(logged.notes)) == ([[WORKS]], 1)
    assert read([node("The following", metadata={"kg_rel_map": {}, "kg_rel_texts": []})]).traversal == []


def test_printed_nodes_are_refused() -> None:
    """json.dumps(..., default=str) prints nodes, which cuts their texts: the way to write them is reported."""
    value = {"question_id": "q1", "response": "x", "source_nodes": [f"Node ID: {UUIDS[0]}\nText: Ann -> KNO...\n"]}
    assert LlamaIndexReader().recognises(value)
    with pytest.raises(UnreadableLogError, match=r"log:1: its nodes are printed(.|\n)*node\.to_dict\(\)"):
        read_all(value)


def test_hostile_values() -> None:
    """Nothing of another shape than expected is read as something, and reading stays linear."""
    arrows, opened = " -> ".join("a" * 100_000), " -> ".join(["a ({"] * 100_000)
    logged = read([node(arrows, "a.md"), node(opened, "b.md"), node(PREAMBLE + "\n" * 100_000, "c.md", score=None)])
    assert logged.traversal is None
    logged = read([{"node": {"id_": 4, "text": ["x"], "metadata": 3, "relationships": [1]}, "score": "high"}])
    assert (names(logged), logged.traversal) == (["4"], None)
    other: dict[str, Any]
    for other in ({"nodes": [{"id": 1}], "edges": []}, {"nodes": ["a"]}, {"nodes": [], "links": []}, {"id_": 3}):
        assert not LlamaIndexReader().recognises(other)


def test_the_real_logs(shared_log: SharedLog) -> None:
    """Retrievals of LlamaIndex 0.14.25: the distinct lines with two arrows of each question, and edges of n1 and n8."""
    # Counted in the logs by their lines: without text a node each, with text those between preamble and chunk.
    counts = {"no_text": [8, 9, 11, 8, 6, 28, 10, 2], "with_text": [27, 21, 24, 15, 24, 29, 21, 2]}
    created = LoggedEdge(
        "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector.create_new_index",
        "CALLS",
        "neo4j_graphrag.indexes.create_vector_index",
    )
    for form, expected in counts.items():
        unread: Counter[str] = Counter()
        logged = read_all(*shared_log(f"llama-index/vector_context_{form}.jsonl.gz"), unread=unread)
        assert [one.question for one in logged] == [f"n{number}" for number in range(1, 9)]
        assert [len(one.traversal[0]) for one in logged if one.traversal] == expected
        assert logged[0].traversal is not None
        assert logged[0].traversal[0][0] == created
        assert (names(logged[0]) or [])[:2] == [created.source, created.target]
        assert all(one.notes == [] for one in logged)
        assert unread == {}
    engine = read_all(*shared_log("llama-index/query_engine.jsonl.gz"))
    assert [one.traversal for one in engine] == [one.traversal for one in logged]
    assert engine[0].answer is not None
    assert engine[0].latency_ms == pytest.approx(528.4965779997037)
