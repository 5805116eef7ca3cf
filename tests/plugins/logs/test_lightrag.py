"""The reader of the logs of LightRAG."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.logs.lightrag import LightragReader
from graphkit.plugins.logs.lightrag_contexts import _csv_tables
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError
from tests.helpers.datasets import SharedLog
from tests.helpers.properties import examples

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
    assert LightragReader().recognises(value)
    (logged,) = LightragReader().read([("log:1", value)], ReadOptions(), Counter() if unread is None else unread)
    return logged


def names(logged: LoggedAnswer) -> list[str] | None:
    """Return the names of what was retrieved."""
    return None if logged.retrieved is None else [chunk.name for chunk in logged.retrieved]


def result(data: Any, mode: str = "mix", **more: Any) -> dict[str, Any]:
    """Return what aquery_data() gives, in what a user wraps around it."""
    reported = {"status": "success", "message": "Query processed successfully", "data": data}
    return {"question_id": "q1", "data": reported | {"metadata": {"query_mode": mode}} | more}


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
    assert (logged.traversal, logged.ordered, logged.notes) == ([[EDGE]], False, [])
    assert unread == {
        "data.entities.entity_type": 1,
        "data.entities.file_path": 1,
        "data.relationships.keywords": 1,
        "data.relationships.weight": 1,
    }


def test_the_tables_alone() -> None:
    """A user may keep the tables without what the library puts around them."""
    logged = read({"question_id": "q1", "retrieved": DATA})
    assert (names(logged), logged.traversal) == (["Acme", "Ann", "people.md", "chunk-2"], [[EDGE]])


def test_aquery_llm() -> None:
    """The answer cites by number; an index of code isn't a citation, and an unknown number is kept and reported."""
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
    """A context instead of an answer, or a lost stream, isn't an answer; the retrieval is read."""
    logged = read(value)
    assert (logged.answer, logged.error, logged.citations, logged.traversal) == (None, None, None, [[EDGE]])
    assert [one.startswith(note) for one in logged.notes] == [True]


def test_modes_without_a_graph() -> None:
    """A naive query retrieves chunks and looks at no edges; bypass retrieves nothing: neither is an empty walk."""
    chunks = {"entities": [], "relationships": [], "chunks": DATA["chunks"], "references": DATA["references"]}
    naive = read(result(chunks, "naive"))
    assert (names(naive), naive.traversal) == (["people.md", "chunk-2"], None)
    assert read({"question_id": "q1", "tables": chunks}).traversal is None
    empty: dict[str, Any] = {"entities": [], "relationships": [], "chunks": [], "references": []}
    bypass = read(result(empty, "bypass"))
    assert (bypass.retrieved, bypass.traversal) == (None, None)
    answer = {"content": "Hi [1].", "is_streaming": False, "llm_generated": True}
    bypass = read(result({}, llm_response=answer) | {"seconds": 1})
    assert (bypass.answer, bypass.retrieved, bypass.traversal, bypass.citations) == ("Hi [1].", None, None, None)


def test_a_query_of_the_graph_that_found_no_edges() -> None:
    """In a mode that looks at the graph, no edges are a walk over nothing."""
    logged = read(result({"entities": DATA["entities"], "relationships": [], "chunks": []}, "local"))
    assert (names(logged), logged.traversal) == (["Acme", "Ann"], [])
    assert read(result({"entities": [], "relationships": [], "chunks": []}, "local")).retrieved == []


def test_failures() -> None:
    """A failure is an error with its reason, and the canned words that stand in the answer's place are none."""
    value = result({}, status="failure", message="The model is away", llm_response={"content": "Sorry"})
    value["data"]["metadata"] = {"failure_reason": "model", "mode": "local"}
    logged = read(value)
    assert (logged.error, logged.error_type, logged.answer) == ("The model is away", "model", None)
    assert (logged.retrieved, logged.traversal) == (None, None)


def test_no_results_are_no_failure() -> None:
    """LightRAG calls a search that found nothing a failure, and answers it with canned words: it found nothing."""
    value = result({}, status="failure", message="Query returned no results", llm_response={"content": "Sorry"})
    value["data"]["metadata"] = {"failure_reason": "no_results", "mode": "local"}
    for one in (value, {"question_id": "q1", "context": "Sorry, I can't answer that.[no-context]"}):
        logged = read(one)
        assert (logged.retrieved, logged.traversal, logged.error, logged.answer) == ([], [], None, None)


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
        assert (names(logged), logged.traversal) == (["Acme", "Ann", "people.md"], [[EDGE]])
        assert (logged.answer, logged.citations) == (None, None)
    assert unread == ({"data.entities.type": 2} if version == "1.5" else {})


#: Names with a comma and a quote, prose with both and with a line, and a text that holds a fence.
CSV_CONTEXTS = {
    "1.2": '-----Entities-----\n    ```csv\n    "id","entity","type","description","rank"\n'
    '"0","Acme, ""A""","X","A firm,\nof ""two"" lines","2"\n"1","Ann","P","A person","1"\n\n    ```\n'
    '    -----Relationships-----\n    ```csv\n    "id","source","target","description","keywords"\n'
    '"0","Acme, ""A""","Ann","Ann works there, ""now""","works, at"\n\n    ```\n'
    '    -----Sources-----\n    ```csv\n    "id","content"\n"0","Ann works.\n```\ncode\n```\nEnd."\n\n    ```',
    "1.0": "\n-----Entities-----\n```csv\nid,entity,type,description,rank\r\n"
    '0,"""Acme, ""A""""",X,"A firm,\nof ""two"" lines",2\r\n1,"""Ann""",P,A person,1\r\n\n```\n'
    "-----Relationships-----\n```csv\nid,source,target,description,keywords\r\n"
    '0,"""Acme, ""A""""","""Ann""","Ann works there, ""now""","works, at"\r\n\n```\n'
    '-----Sources-----\n```csv\nid,content\r\n0,"Ann works.\n```\ncode\n```\nEnd."\r\n\n```\n',
    "1.0, hybrid": "\n-----Entities-----\n```csv\nid,\tentity,\ttype,\tdescription,\trank\n"
    '1,\t"Acme, "A"",X,A firm,\nof "two" lines,2\n2,\t"Ann",P,A person,1\n```\n'
    "-----Relationships-----\n```csv\nid,\tsource,\ttarget,\tdescription,\tkeywords\n"
    '1,\t"Acme, "A"","Ann",Ann works there, "now",works, at\n2,\t"Ann","Acme, "A"",The same,works\n```\n'
    "-----Sources-----\n```csv\nid,\tcontent\n1,\tAnn works.\n```\ncode\n```\nEnd.\n```\n",
}


@pytest.mark.parametrize("version", CSV_CONTEXTS)
@pytest.mark.parametrize("prompt", [False, True])
def test_the_context_as_csv(version: str, prompt: bool) -> None:
    """Before 1.3 the tables are CSV, and nothing names a text's file; a pair's edge is there once, by either end."""
    context = CSV_CONTEXTS[version]
    if prompt:
        context = f"---Role---\n\nYou relate entities.\n\n---Data---\n{context}\n\n---Response Rules---\n"
    logged = read({"question_id": "q1", "context": context})
    assert logged.retrieved is not None
    assert [chunk.text for chunk in logged.retrieved] == [
        'A firm,\nof "two" lines',
        "A person",
        "Ann works.\n```\ncode\n```\nEnd.",
    ]
    # The digest of the text that has no name: sha256 of it begins so.
    assert names(logged) == ['Acme, "A"', "Ann", "text-2a825b01d0f51e3f"]
    assert logged.traversal == [[LoggedEdge('Acme, "A"', None, "Ann", directed=False)]]
    assert (logged.answer, [note[:16] for note in logged.notes]) == (None, ["a hybrid context"] * ("hybrid" in version))


def test_a_hybrid_context_without_quotes() -> None:
    """Version 1.2 joined cells as they were: a name is what stands before the first comma, which is reported."""
    context = (
        "-----Entities-----\n    ```csv\n    id,\tentity,\ttype,\tdescription,\tfile_path\n"
        "1,\tAnn,P,A person, who works,unknown_source\n2,\tAcme, Inc.,X,A firm,unknown_source\n    ```\n"
        "    -----Relationships-----\n    ```csv\n    id,\tsource,\ttarget,\tdescription\n1,\tAnn,Bob,x\n    ```\n"
        "    -----Sources-----\n    ```csv\n    \n    ```"
    )
    logged = read({"question_id": "q1", "result": {"kg_context": context, "vector_context": None}})
    assert (names(logged), logged.traversal) == (
        ["Ann", "Acme", "Bob"],
        [[LoggedEdge("Ann", None, "Bob", directed=False)]],
    )
    assert logged.retrieved is not None
    assert logged.retrieved[0].text == "A person, who works"
    assert [note[:16] for note in logged.notes] == ["a hybrid context"]


def test_a_mixed_query_before_1_3() -> None:
    """It gives two contexts: what the graph gave, which may be nothing, and texts that are put one below the other."""
    texts = "[Created at: 2026-11-22 17:27:01]\nOne.\n--New Chunk--\nTwo."
    both = read({"question_id": "q1", "result": {"kg_context": CSV_CONTEXTS["1.2"], "vector_context": texts}})
    assert both.retrieved is not None
    assert [chunk.text for chunk in both.retrieved][-2:] == ["One.", "Two."]
    assert both.traversal == [[LoggedEdge('Acme, "A"', None, "Ann", directed=False)]]
    # The same texts as a naive query gives them, which looks at no edges.
    for value in ({"kg_context": None, "vector_context": texts}, {"context": texts}):
        logged = read({"question_id": "q1", **value})
        assert logged.retrieved is not None
        assert ([chunk.text for chunk in logged.retrieved], logged.traversal) == (["One.", "Two."], None)


def test_a_table_of_contexts() -> None:
    """Contexts by the ids of their questions, or in pairs with them, are each a question's; null is none."""
    first, second = CONTEXTS["1.5"], CONTEXTS["1.4.5"]
    for value in (
        {"q1": first, "q2": second, "q3": None},
        [["q1", first], ["q2", second], {"question_id": "q3", "context": None}],
    ):
        assert LightragReader().recognises(value)
        table = list(LightragReader().read([("log:1", value)], ReadOptions(), Counter()))
        assert [one.question for one in table][:2] == ["q1", "q2"]
        assert [one.traversal for one in table][:2] == [[[EDGE]], [[EDGE]]]


STREAM: list[dict[str, Any]] = [
    {"references": [{"reference_id": "1", "file_path": "people.md"}]},
    {"response": "At "},
    {"response": "Acme [1]."},
]


def test_streamed_answers() -> None:
    """/query/stream answers in lines: the references, then pieces of the answer; kept as a list or as they came."""
    (logged,) = LightragReader().read([("log:1", {"question_id": "q1", "result": STREAM})], ReadOptions(), Counter())
    assert (logged.question, logged.answer, logged.citations) == ("q1", "At Acme [1].", ["people.md"])
    assert (logged.retrieved, logged.traversal) == (None, None)
    assert LightragReader().recognises(STREAM[0])
    (plain,) = LightragReader().read([("log:1", part) for part in STREAM[1:]], ReadOptions(), Counter())
    assert (plain.answer, plain.citations) == ("At Acme [1].", None)
    (single,) = LightragReader().read([("log:1", {"response": "At Acme."})], ReadOptions(), Counter())
    assert single.answer == "At Acme."
    failed = [*STREAM[:2], {"error": "The model is away."}]
    lines = [(f"log:{number}", part) for number, part in enumerate([*STREAM, *failed], 1)]
    first, second = LightragReader().read(lines, ReadOptions(), Counter())
    assert (first.where, first.answer, first.error) == ("log:1", "At Acme [1].", None)
    assert (second.where, second.answer, second.error) == ("log:4", "At ", "The model is away.")


def test_an_answer_alone() -> None:
    """aquery() gives the answer as a text; a note says that nothing else is known, and null means nothing found."""
    values = [{"question_id": "q1", "result": "At Acme."}, {"question_id": "q2", "result": None}]
    answered, failed = LightragReader().read([("log", value) for value in values], ReadOptions(), Counter())
    assert (answered.answer, answered.retrieved, answered.traversal) == ("At Acme.", None, None)
    assert [note[:15] for note in answered.notes] == ["an answer alone"]
    assert (failed.answer, failed.error_type) == (None, "no_output")


def test_tables_with_their_mode() -> None:
    """Version 1.4.8 gives the tables beside their metadata: a query without the graph walked nothing that is known."""
    for mode, walk in (("bypass", None), ("naive", None), ("local", [])):
        value = {"entities": [], "relationships": [], "chunks": [], "metadata": {"query_mode": mode}}
        assert read({"question_id": "q1", "result": value}).traversal == walk
    # If no file is named, a name for all of them replaces it.
    chunks = [{"content": "One.", "file_path": "custom_kg"}, {"content": "Two.", "file_path": "unknown_source"}]
    both = read({"question_id": "q1", "result": {"entities": [], "relationships": [], "chunks": chunks}}).retrieved
    assert both is not None
    assert len({chunk.name for chunk in both}) == 2


def test_a_naive_context_as_text() -> None:
    """The context of a naive query has no tables of the graph: nothing was walked, and nothing is said of it."""
    old = '\n---Document Chunks(DC)---\n\n```json\n[{"id": 1, "content": "x", "file_path": "people.md"}]\n```\n\n'
    assert (names(read({"question_id": "q1", "context": old})), read({"context": old}).traversal) == (
        ["people.md"],
        None,
    )
    context = CONTEXTS["1.5"][CONTEXTS["1.5"].index("Document Chunks") :]
    logged = read({"question_id": "q1", "response": context})
    assert (names(logged), logged.traversal, logged.answer) == (["people.md"], None, None)


def test_a_context_without_edges_as_text() -> None:
    """If the tables of the graph are there and empty, the graph was looked at."""
    context = CONTEXTS["1.4.5"].replace('[{"id": 1, "entity1": "Acme", "entity2": "Ann"}]', "[]")
    assert read({"question_id": "q1", "context": context}).traversal == []


def test_the_server() -> None:
    """LightRAG's server gives the response with its references, and nothing of retrieval."""
    value = {"question_id": "q1", "response": "At Acme [1].", "references": DATA["references"], "response_time": 2.5}
    logged = read(value)
    assert (logged.answer, logged.citations, logged.latency_ms) == ("At Acme [1].", ["people.md"], 2500)
    assert (logged.retrieved, logged.traversal) == (None, None)


def test_hostile_values() -> None:
    """Nothing of another shape than expected is read as something; what says nothing at all is refused."""
    data = {
        "entities": [{"entity_name": "A"}, 3, {"entity_name": {}}],
        "relationships": [{"src_id": "A"}, {"src_id": ["A"], "tgt_id": 1}],
        "chunks": [{"content": "x"}, {"content": {}, "reference_id": 5}],
    }
    unread: Counter[str] = Counter()
    logged = read(result(data, llm_response="x", metadata=3), unread)
    assert (names(logged), logged.traversal) == (
        ["A", "text-2d711642b726b044", "5"],
        None,
    )  # a text without a file has a digest
    assert unread["data.relationships without an end"] == 2
    broken = CONTEXTS["1.5"].replace('{"entity":', "[" * 50_000)
    assert read({"question_id": "q1", "context": broken}, unread).traversal == [[EDGE]]
    assert unread["lines of entities that aren't JSON"] == 2
    for other in ({"status": "ok", "data": {}}, {"entities": [{"entity": "A"}]}, {"chunks": ["x"]}, {"response": "x"}):
        assert not LightragReader().recognises(other)
    with pytest.raises(UnreadableLogError, match="log:1: nothing in it"):
        list(LightragReader().read([("log:1", {"colour": "red"})], ReadOptions(), unread))


def test_the_real_logs(shared_log: SharedLog) -> None:
    """Queries of LightRAG 1.5.7: counts as the log's own processing_info has them, and edges of n1 as they stand."""
    vector = "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector"
    for mode in ("local", "mix"):
        values = shared_log(f"lightrag/query_data_{mode}.jsonl.gz")
        logged = list(LightragReader().read([("log", value) for value in values], ReadOptions(), Counter()))
        assert [one.question for one in logged] == [f"n{number}" for number in range(1, 9)]
        for one, value in zip(logged, values, strict=True):
            reported = value["data"]["metadata"]["processing_info"]
            assert one.traversal is not None
            assert len(one.traversal[0]) == reported["relations_after_truncation"]
            # Behind what was ranked follow the ends of edges that aren't among the entities.
            ranked = {row["entity_name"] for row in value["data"]["data"]["entities"]}
            retrieved = [name for name in names(one) or [] if name in ranked or name.endswith(".py")]
            assert sum(name.endswith(".py") for name in retrieved) <= reported["final_chunks_count"]
            assert sum(not name.endswith(".py") for name in retrieved) == reported["entities_after_truncation"]
        first = logged[0]
        assert first.traversal is not None
        assert first.traversal[0][0] == LoggedEdge(
            f"{vector}.similarity_search_by_vector",
            None,
            f"{vector}.similarity_search_with_score_by_vector",
            directed=False,
        )
        # In the knowledge graph create_vector_index RAISES Neo4jIndexError: the log has it in alphabetical order.
        raised = LoggedEdge(
            "neo4j_graphrag.exceptions.Neo4jIndexError", None, "neo4j_graphrag.indexes.create_vector_index", False
        )
        assert raised in first.traversal[0]
        assert first.latency_ms == pytest.approx(values[0]["seconds"] * 1000)


#: The same as one expression, which takes the square of the time: the peer of what graphkit does in steps.
CSV = re.compile(
    r"-----Entities-----\s*```csv\r?\n(.*?)\n\s*```\s*"
    r"-----Relationships-----\s*```csv\r?\n(.*?)\n\s*```\s*"
    r"-----Sources-----\s*```csv\r?\n(.*)\n\s*```",
    re.DOTALL,
)
PARTS = st.sampled_from(
    [
        *("-----Entities-----", "-----Relationships-----", "-----Sources-----", "```csv\n", "```csv\r\n", "```"),
        *("\n", " ", "\n```", "id,entity\n", "1,a", "\n```\n-----Relationships-----\n```csv\n"),
        "\n```\n-----Sources-----\n```csv\n",
    ]
)


@examples(500)
@given(st.lists(PARTS, max_size=14))
def test_tables_of_csv_are_cut_as_one_expression_would(parts: list[str]) -> None:
    """Whatever fences and headings a context repeats, its three tables are those of the expression."""
    context = "-----Entities-----\n```csv\n" + "".join(parts)
    found = CSV.match(context)
    tables = _csv_tables(context)
    if found is None:
        assert tables is None
    else:
        assert tables is not None
        assert tuple(table.rstrip() for table in tables) == tuple(group.rstrip() for group in found.groups())
