"""What is read of the logs of LightRAG."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphkit.readers.lightrag import READER
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError
from tests.helpers.datasets import shared_log

DATA: dict[str, Any] = {
    "entities": [
        {"entity_name": "Acme", "entity_type": "X", "description": "A company", "file_path": "people.md"},
        {"entity_name": "Ann", "description": "A person"},
    ],
    "relationships": [{"src_id": "Acme", "tgt_id": "Ann", "keywords": "WORKS_AT", "weight": 1.0}],
    "chunks": [
        {"reference_id": "1", "content": "Ann works at Acme.", "file_path": "people.md", "chunk_id": "chunk-1"},
        {"reference_id": "2", "content": "Acme.", "file_path": "unknown_source", "chunk_id": "chunk-2"},
        {"reference_id": "1", "content": "Ann knows Bob.", "file_path": "people.md", "chunk_id": "chunk-3"},
    ],
    "references": [{"reference_id": "1", "file_path": "people.md"}],
}
EDGE = LoggedEdge("Acme", None, "Ann", directed=False)


def read(value: Any, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return what the one result of a value says."""
    assert READER.recognises(value)
    (logged,) = READER.read([("log:1", value)], ReadOptions(), Counter() if unread is None else unread)
    return logged


def names(logged: LoggedAnswer) -> list[str] | None:
    """Return the names of what was retrieved."""
    return None if logged.retrieved is None else [chunk.name for chunk in logged.retrieved]


def result(data: Any, mode: str = "mix", **more: Any) -> dict[str, Any]:
    """Return what aquery_data() gives, in what a user wraps around it."""
    told = {"status": "success", "message": "Query processed successfully", "data": data}
    return {"question_id": "q1", "data": told | {"metadata": {"query_mode": mode}} | more}


def answered(content: str | None, **more: Any) -> dict[str, Any]:
    """Return what aquery_llm() gives."""
    return result(DATA, llm_response={"content": content, "is_streaming": content is None} | more)


def test_aquery_data() -> None:
    """Entities come first, then chunks by their file or id, once each; edges are a set without direction and type."""
    unread: Counter[str] = Counter()
    logged = read(result(DATA) | {"seconds": 0.5}, unread)
    assert (logged.question, logged.answer, logged.citations, logged.latency_ms) == ("q1", None, None, 500)
    assert names(logged) == ["Acme", "Ann", "people.md", "chunk-2"]
    assert logged.retrieved is not None
    assert logged.retrieved[2].text == "Ann works at Acme.\n\nAnn knows Bob."
    assert (logged.walk, logged.ordered, logged.notes) == ([[EDGE]], False, [])
    assert unread == {
        "data.entities.entity_type": 1,
        "data.entities.file_path": 1,
        "data.relationships.keywords": 1,
        "data.relationships.weight": 1,
    }


def test_the_tables_alone() -> None:
    """A user may keep the tables without what the library puts around them."""
    logged = read({"question_id": "q1", "retrieved": DATA})
    assert (names(logged), logged.walk) == (["Acme", "Ann", "people.md", "chunk-2"], [[EDGE]])


def test_aquery_llm() -> None:
    """The answer and what it cites by number; an index of code isn't cited, and an unknown number is kept and told."""
    logged = read(answered("At Acme[1], see items[0] and [9].\n\n### References\n- [1] people.md"))
    assert logged.answer is not None
    assert logged.answer.startswith("At Acme")
    assert logged.citations == ["people.md", "[9]"]
    assert [note[:31] for note in logged.notes] == ["the answer cites numbers that a"]
    assert read(answered("Nothing is cited.")).citations == []


@pytest.mark.parametrize(
    ("value", "note"),
    [
        (answered("the context", llm_generated=False), "instead of an answer"),
        (answered("---Role---\n\nYou are"), "instead of an answer"),
        (answered("\nKnowledge Graph Data (Entity):\n\n```json\n```"), "instead of an answer"),
        (answered(None), "the answer was streamed"),
    ],
    ids=["context asked for", "prompt asked for", "context in version 1.4", "streamed"],
)
def test_what_is_no_answer(value: dict[str, Any], note: str) -> None:
    """What was asked for instead of an answer, or went away as a stream, isn't one; the retrieval is read."""
    logged = read(value)
    assert (logged.answer, logged.error, logged.citations, logged.walk) == (None, None, None, [[EDGE]])
    assert [one.startswith(note) for one in logged.notes] == [True]


def test_modes_without_a_graph() -> None:
    """A naive query retrieves chunks and looks at no edges; bypass retrieves nothing: neither is an empty walk."""
    chunks = {"entities": [], "relationships": [], "chunks": DATA["chunks"], "references": DATA["references"]}
    naive = read(result(chunks, "naive"))
    assert (names(naive), naive.walk) == (["people.md", "chunk-2"], None)
    assert read({"question_id": "q1", "tables": chunks}).walk is None
    empty: dict[str, Any] = {"entities": [], "relationships": [], "chunks": [], "references": []}
    bypass = read(result(empty, "bypass"))
    assert (bypass.retrieved, bypass.walk) == (None, None)
    answer = {"content": "Hi [1].", "is_streaming": False, "llm_generated": True}
    bypass = read(result({}, llm_response=answer) | {"seconds": 1})
    assert (bypass.answer, bypass.retrieved, bypass.walk, bypass.citations) == ("Hi [1].", None, None, None)


def test_a_query_of_the_graph_that_found_no_edges() -> None:
    """In a mode that looks at the graph, no edges are a walk over nothing."""
    logged = read(result({"entities": DATA["entities"], "relationships": [], "chunks": []}, "local"))
    assert (names(logged), logged.walk) == (["Acme", "Ann"], [])
    assert read(result({"entities": [], "relationships": [], "chunks": []}, "local")).retrieved == []


def test_failures() -> None:
    """A failure is an error with its reason, and the canned words that stand in the answer's place are none."""
    value = result({}, status="failure", message="Query returned no results", llm_response={"content": "Sorry"})
    value["data"]["metadata"] = {"failure_reason": "no_results", "mode": "local"}
    logged = read(value)
    assert (logged.error, logged.error_type, logged.answer) == ("Query returned no results", "no_results", None)
    assert (logged.retrieved, logged.walk) == (None, None)
    logged = read({"question_id": "q1", "context": "Sorry, I can't answer that.[no-context]"})
    assert (logged.error_type, logged.retrieved) == ("no_results", None)


CONTEXTS = {
    "1.5": "\nKnowledge Graph Data (Entity):\n\n```json\n"
    '{"entity": "Acme", "type": "X", "description": "a ``` fence"}\n{"entity": "Ann"}\n```\n\n'
    'Knowledge Graph Data (Relationship):\n\n```json\n{"entity1": "Acme", "entity2": "Ann"}\n```\n\n'
    "Document Chunks (Each entry has a reference_id refer to the `Reference Document List`):\n\n```json\n"
    '{"reference_id": "1", "content": "Ann works at Acme."}\n```\n\n'
    "Reference Document List (Each entry starts with a [reference_id] that corresponds to entries in the Document "
    "Chunks):\n\n```\n[1] people.md\n```\n\n",
    "1.4.9": '\nEntities Data From Knowledge Graph(KG):\n\n```json\n{"entity": "Acme"}\n{"entity": "Ann"}\n```\n\n'
    'Relationships Data From Knowledge Graph(KG):\n\n```json\n{"entity1": "Acme", "entity2": "Ann"}\n```\n\n'
    'Original Texts From Document Chunks(DC):\n\n```json\n{"reference_id": "1", "content": "Ann works at Acme."}\n'
    "```\n\nDocument Chunks (DC) Reference Document List: (Each entry begins with [reference_id])\n\n[1] people.md\n",
    "1.4.5": '-----Entities(KG)-----\n\n```json\n[{"id": 1, "entity": "Acme"}, {"id": 2, "entity": "Ann"}]\n```\n\n'
    '-----Relationships(KG)-----\n\n```json\n[{"id": 1, "entity1": "Acme", "entity2": "Ann"}]\n```\n\n'
    '-----Document Chunks(DC)-----\n\n```json\n[{"id": 1, "content": "Ann works at Acme.", "file_path": "people.md"}]\n'
    "```\n\n",
}


@pytest.mark.parametrize("version", CONTEXTS)
def test_the_context_as_text(version: str) -> None:
    """only_need_context gives the same tables as JSON between fences, of which no name is lost."""
    unread: Counter[str] = Counter()
    for value in ({"question_id": "q1", "context": CONTEXTS[version]}, CONTEXTS[version]):
        logged = read(value, unread)
        assert (names(logged), logged.walk) == (["Acme", "Ann", "people.md"], [[EDGE]])
        assert (logged.answer, logged.citations) == (None, None)
    assert unread == ({"data.entities.type": 2} if version == "1.5" else {})


def test_a_naive_context_as_text() -> None:
    """The context of a naive query has no tables of the graph: nothing was walked, and nothing is said of it."""
    context = CONTEXTS["1.5"][CONTEXTS["1.5"].index("Document Chunks") :]
    logged = read({"question_id": "q1", "response": context})
    assert (names(logged), logged.walk, logged.answer) == (["people.md"], None, None)


def test_a_context_without_edges_as_text() -> None:
    """Where the tables of the graph are there and empty, the graph was looked at."""
    context = CONTEXTS["1.4.5"].replace('[{"id": 1, "entity1": "Acme", "entity2": "Ann"}]', "[]")
    assert read({"question_id": "q1", "context": context}).walk == []


def test_the_server() -> None:
    """LightRAG's server gives the response with its references, and nothing of retrieval."""
    value = {"question_id": "q1", "response": "At Acme [1].", "references": DATA["references"], "response_time": 2.5}
    logged = read(value)
    assert (logged.answer, logged.citations, logged.latency_ms) == ("At Acme [1].", ["people.md"], 2500)
    assert (logged.retrieved, logged.walk) == (None, None)


def test_hostile_values() -> None:
    """Nothing of another shape than expected is read as something; what says nothing at all is refused."""
    data = {
        "entities": [{"entity_name": "A"}, 3, {"entity_name": {}}],
        "relationships": [{"src_id": "A"}, {"src_id": ["A"], "tgt_id": 1}],
        "chunks": [{"content": "x"}, {"content": {}, "reference_id": 5}],
    }
    unread: Counter[str] = Counter()
    logged = read(result(data, llm_response="x", metadata=3), unread)
    assert (names(logged), logged.walk) == (["A", "5"], [])
    assert unread["data.relationships without an end"] == 2
    broken = CONTEXTS["1.5"].replace('{"entity":', "[" * 50_000)
    assert read({"question_id": "q1", "context": broken}, unread).walk == [[EDGE]]
    assert unread["lines of entities that aren't JSON"] == 2
    for other in ({"status": "ok", "data": {}}, {"entities": [{"entity": "A"}]}, {"chunks": ["x"]}, {"response": "x"}):
        assert not READER.recognises(other)
    with pytest.raises(UnreadableLogError, match="log:1: nothing in it"):
        list(READER.read([("log:1", {"result": "An answer alone."})], ReadOptions(), unread))


def test_the_real_logs() -> None:
    """Queries of LightRAG 1.5.7: counts as the log's own processing_info has them, and edges of n1 as they stand."""
    vector = "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector"
    for mode in ("local", "mix"):
        values = shared_log(f"lightrag/query_data_{mode}.jsonl.gz")
        logged = list(READER.read([("log", value) for value in values], ReadOptions(), Counter()))
        assert [one.question for one in logged] == [f"n{number}" for number in range(1, 9)]
        for one, value in zip(logged, values, strict=True):
            told = value["data"]["metadata"]["processing_info"]
            assert one.walk is not None
            assert len(one.walk[0]) == told["relations_after_truncation"]
            retrieved = names(one) or []
            assert sum(name.endswith(".py") for name in retrieved) <= told["final_chunks_count"]
            assert sum(not name.endswith(".py") for name in retrieved) == told["entities_after_truncation"]
        first = logged[0]
        assert first.walk is not None
        assert first.walk[0][0] == LoggedEdge(
            f"{vector}.similarity_search_by_vector",
            None,
            f"{vector}.similarity_search_with_score_by_vector",
            directed=False,
        )
        # In the knowledge graph create_vector_index RAISES Neo4jIndexError: the log has it in alphabetical order.
        raised = LoggedEdge(
            "neo4j_graphrag.exceptions.Neo4jIndexError", None, "neo4j_graphrag.indexes.create_vector_index", False
        )
        assert raised in first.walk[0]
        assert first.latency_ms == pytest.approx(values[0]["seconds"] * 1000)
