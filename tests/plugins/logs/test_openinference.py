"""OpenInference spans: what they say of a question, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from graphkit.plugins.logs.openinference import OpenInferenceReader
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError
from tests.helpers.datasets import SharedLog
from tests.plugins.logs.shared_logs import read as read_by
from tests.plugins.logs.test_spans import documents, names, otlp, read, span

#: Of n1 to n8: how many documents and how many different edges were retrieved. The log of the retriever itself
#: (``vector_context_with_text``), which another form of the library wrote, holds as many.
LLAMA_DOCUMENTS = [9, 4, 10, 3, 3, 2, 4, 1]
LLAMA_EDGES = [27, 21, 24, 15, 24, 29, 21, 2]


def edges(answer: LoggedAnswer) -> list[tuple[str, str | None, str]] | None:
    """Return the edges of an answer, which are one set."""
    if answer.traversal is None:
        return None
    assert not answer.ordered
    return [(edge.source, edge.relation, edge.target) for path in answer.traversal for edge in path]


def logged(shared_log: SharedLog, *names: str) -> list[LoggedAnswer]:
    """Return what is read of the values of real logs."""
    return read(*(value for name in names for value in shared_log(name)))


def test_llama_index_as_it_was_traced(shared_log: SharedLog) -> None:
    """Each of the eight traces is a question with its documents, its edges from their texts, and two or fewer calls."""
    answers = logged(shared_log, "llama-index/openinference_spans.jsonl.gz")
    assert [one.question for one in answers] == [f"n{number}" for number in range(1, 9)]
    files = [[chunk for chunk in one.retrieved or () if chunk.name.endswith(".py")] for one in answers]
    assert [len(some) for some in files] == LLAMA_DOCUMENTS
    assert [len(edges(one) or ()) for one in answers] == LLAMA_EDGES
    first = answers[0]
    assert first.question_text == "Which neo4j_graphrag function does Neo4jVector call to create a new vector index?"
    assert first.retrieved is not None
    # The text of the first document begins with two triples: their four ends have its place, before its own name.
    assert first.retrieved[4].name == "langchain_neo4j/vectorstores/neo4j_vector.py"
    assert first.retrieved[4].score == pytest.approx(0.6176470588235293)
    assert first.traversal is not None
    assert first.traversal[0][0] == LoggedEdge(
        "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector.create_new_index",
        "CALLS",
        "neo4j_graphrag.indexes.create_vector_index",
    )
    # 00.832876 to 01.361094 by the outermost span; ten calls of complete() in all, each within a predict().
    assert first.latency_ms == pytest.approx(528.218)
    assert (first.model_calls, sum(one.model_calls or 0 for one in answers)) == (2, 10)
    assert (first.prompt_tokens, first.output_tokens, first.model, first.error) == (None, None, None, None)
    assert first.answer is not None
    assert first.answer.startswith("text text text")
    assert [note for one in answers for note in one.notes] == []


def test_the_sdk_and_otlp_say_the_same(shared_log: SharedLog) -> None:
    """One run, as the SDK wrote it and as OTLP with ids in base64, gives the same answers but for their places."""
    sdk, otlp_json = (
        logged(shared_log, "llama-index/openinference_spans.jsonl.gz"),
        logged(shared_log, "llama-index/otlp.json.gz"),
    )
    assert len(sdk) == 8
    assert [replace(one, where="") for one in sdk] == [replace(one, where="") for one in otlp_json]


def test_langchain_as_it_was_traced(shared_log: SharedLog) -> None:
    """Documents are named by their metadata, edges are in it, tokens are those of the model's own span."""
    answers = logged(shared_log, "langchain/openinference_spans.jsonl.gz")
    assert [one.question for one in answers] == [f"n{number}" for number in range(1, 9)]
    # As many documents as the chain's own output has, of which the same is read.
    outputs = read_by("langchain", shared_log("langchain/chain_output.jsonl.gz"))
    assert [names(one) for one in answers] == [names(one) for one in outputs]
    first, third = answers[0], answers[2]
    assert first.answer == "It goes through create_vector_index."
    assert (first.prompt_tokens, first.output_tokens, first.model_calls) == (812, 9, 1)
    # Its five documents hold 0, 0, 3, 1 and 1 triples.
    assert (names(first) or [])[:5] == [
        "langchain_neo4j.vectorstores.neo4j_vector",
        "neo4j_graphrag",
        "neo4j_graphrag.indexes.create_vector_index",
        "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector.create_new_index",
        "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector",
    ]
    assert len(edges(first) or ()) == 5
    # Those of the third hold none: it walked nothing, which is known.
    assert third.traversal == []


def test_the_outermost_retrieval_counts() -> None:
    """The documents of a retrieval within another that repeats them count once, from the outer one."""
    values = [
        span(1, None, "CHAIN"),
        span(2, 1, "RETRIEVER"),  # tells no documents: what is below it does
        span(3, 2, "RETRIEVER", attributes=documents("a", "b")),
        span(4, 3, "RETRIEVER", attributes=documents("c", "a", "b")),
    ]
    [answer] = read(*values)
    assert names(answer) == ["a", "b"]


def test_retrievals_beside_each_other_follow_one_another() -> None:
    """Two retrievals of one question are one list in the order in which they began, and that is reported."""
    values = [
        span(1, None, "CHAIN"),
        span(3, 1, "RETRIEVER", attributes=documents("c")),
        span(2, 1, "RETRIEVER", attributes=documents("a", "b")),
    ]
    [answer] = read(*values)
    assert names(answer) == ["a", "b", "c"]
    assert answer.notes == ["there are several retrievals: their documents follow one another"]


def test_scores_of_several_retrievals_are_not_compared() -> None:
    """A search by vectors gave a .8 and b .9, one by words c 12 and d 8: b, a, c, d, without scores."""
    scored = []
    for number, given in enumerate(({"a": 0.8, "b": 0.9}, {"c": 12.0, "d": 8.0}), 2):
        attributes = documents(*given)
        for place, score in enumerate(given.values()):
            attributes[f"retrieval.documents.{place}.document.score"] = score
        scored.append(span(number, 1, "RETRIEVER", attributes=attributes))
    [answer] = read(span(1, None, "CHAIN"), *scored)
    assert names(answer) == ["b", "a", "c", "d"]
    assert [chunk.score for chunk in answer.retrieved or ()] == [None] * 4


@pytest.mark.parametrize("output", ["[]", '{"documents": []}'])
def test_nothing_found_is_not_nothing_logged(output: str) -> None:
    """A retrieval whose output is an empty list retrieved nothing; one that says nothing is unknown."""
    [found] = read(span(1, None, "RETRIEVER", attributes={"output.value": output}))
    [unknown] = read(span(1, None, "RETRIEVER", attributes={"output.value": "<object>"}))
    assert (found.retrieved, unknown.retrieved) == ([], None)
    assert unknown.notes == ["a retrieval doesn't log its documents"]


def test_documents_without_an_id() -> None:
    """One among others keeps its place under a name of its own; where none has an id, nothing is known."""
    text = {"retrieval.documents.0.document.content": "x", "retrieval.documents.1.document.content": "y"}
    [unknown] = read(span(1, None, "RETRIEVER", attributes=text))
    assert unknown.retrieved is None
    named = {**text, "retrieval.documents.1.document.metadata": '{"source": "b.py", "commit": "c1", "page": 3}'}
    unread: Counter[str] = Counter()
    [answer] = read(span(1, None, "RETRIEVER", attributes=named), unread=unread)
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.text, chunk.commit) for chunk in answer.retrieved] == [
        ("document 0 of span 0000000000000001", "x", None),
        ("b.py", "y", "c1"),
    ]
    assert answer.notes == ["a document has no id, neither of its own nor in its metadata"]
    assert unread == {"document.metadata.page": 1}


@pytest.mark.parametrize(
    ("attributes", "found", "notes"),
    [
        ({"document.content": "A -> CALLS -> B"}, [("A", "CALLS", "B")], 0),
        (
            {
                "document.content": "Here are some facts extracted from the provided text:\n\n"
                "A -> CALLS -> B\nB -> works at -> C\nodd -> line\n\nThe text -> of -> it\nA -> CALLS -> Z"
            },
            [("A", "CALLS", "B"), ("B", "works at", "C")],
            1,
        ),
        ({"document.content": "Then press File -> Open."}, None, 0),
        ({"document.metadata": '{"triples": [["A", "CALLS", "B"], ["A"]]}'}, [("A", "CALLS", "B")], 1),
        ({"document.metadata": {"edges": [{"s": "A", "t": "CALLS", "o": "B"}]}}, [("A", "CALLS", "B")], 0),
        ({"document.metadata": '{"relationships": [{"from": "A", "to": "B"}]}'}, [("A", None, "B")], 0),
        ({"document.metadata": '{"triples": []}'}, [], 0),
        ({"document.metadata": '{"triples": [["A", "CA'}, None, 1),
    ],
)
def test_edges_within_documents(attributes: dict[str, Any], found: list[Any] | None, notes: int) -> None:
    """Edges are in LlamaIndex's lines, in front of the text itself, or in metadata; what isn't one is reported."""
    named = {f"retrieval.documents.0.{name}": value for name, value in attributes.items()}
    [answer] = read(span(1, None, "RETRIEVER", attributes={**documents("a"), **named}))
    assert (edges(answer), len(answer.notes)) == (found, notes)


def test_each_edge_is_there_once() -> None:
    """Two documents that hold one edge give a set of one."""
    both = {f"retrieval.documents.{place}.document.content": "A -> CALLS -> B" for place in (0, 1)}
    [answer] = read(span(1, None, "RETRIEVER", attributes={**documents("a", "b"), **both}))
    assert edges(answer) == [("A", "CALLS", "B")]


def without(attributes: dict[str, Any], *lost: str) -> dict[str, Any]:
    """Return attributes but for some."""
    return {name: value for name, value in attributes.items() if not name.startswith(lost)}


#: A retrieval of 60 documents with an id and a score, after the text of the question: as the issue measured it, of 128
#: attributes that Python's SDK kept, the oldest were dropped.
MANY: dict[str, Any] = {"input.value": "Who?"} | {
    f"retrieval.documents.{place}.document.{name}": value
    for place in range(60)
    for name, value in (("id", f"d{place}"), ("score", 1 - place / 100))
}


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        (
            without(MANY, "input", *(f"retrieval.documents.{place}." for place in range(18))),
            "begin with number 18 instead of 0",
        ),
        (without(MANY, "input", "retrieval.documents.0.document.id"), "number 0 has no id, which all others have"),
        (without(MANY, "retrieval.documents.3."), "number 3 is missing between others"),
    ],
)
def test_documents_that_were_dropped_are_refused(attributes: dict[str, Any], words: str) -> None:
    """If the SDK dropped the best documents, the log could only mislead: place, loss and remedy are reported."""
    with pytest.raises(UnreadableLogError, match=words) as caught:
        read(span(1, None, "CHAIN"), span(2, 1, "RETRIEVER", attributes=attributes))
    assert caught.value.where == "log.jsonl:2, span 0000000000000002"
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in str(caught.value.remedy)


@pytest.mark.parametrize("parent", [None, 1])
def test_the_kind_itself_may_have_been_dropped(parent: int | None) -> None:
    """A span that began with its kind lost that first: by its documents it is a retrieval, and is refused."""
    one = span(2, parent, "RETRIEVER", attributes=without(MANY, "input", "retrieval.documents.0."))
    del one["attributes"]["openinference.span.kind"]
    assert OpenInferenceReader().recognises(one)
    with pytest.raises(UnreadableLogError, match="begin with number 1 instead of 0"):
        read(span(1, None, "CHAIN"), one)


DROPPED = [
    {"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}},
    {"key": "retrieval.documents.0.document.id", "value": {"stringValue": "a"}},
    {"key": "retrieval.documents.1.document.id", "value": {"stringValue": "b"}},
]


@pytest.mark.parametrize("count", [{"droppedAttributesCount": 2}, {"dropped_attributes_count": "2"}])
@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "whether all are there is unknown"),
        ('["x", "y", "z"]', "2 are there, and its output shows 3"),
        ('["x", "y"]', None),
    ],
)
def test_a_count_of_dropped_attributes(count: dict[str, Any], output: str | None, words: str | None) -> None:
    """OTLP counts what was dropped: a retrieval is believed only where its output shows as many documents."""
    shown = [] if output is None else [{"key": "output.value", "value": {"stringValue": output}}]
    value = otlp([*DROPPED, *shown], "a" * 32, f"{1:016x}", **count)
    if words is None:
        [answer] = read(value)
        assert names(answer) == ["a", "b"]
        assert answer.notes == ["spans lost attributes, though none of a retrieval"]
    else:
        with pytest.raises(UnreadableLogError, match=f"{words} .2 of its attributes were dropped"):
            read(value)


def test_attributes_lost_elsewhere_are_reported() -> None:
    """A model's span that lost some messages costs the answer nothing; it is reported."""
    values = [
        span(1, None, "CHAIN", attributes={"output.value": "Ann."}),
        span(2, 1, "RETRIEVER", attributes=documents("a")),
        {**span(3, 1, "LLM"), "dropped_attributes": 7},
    ]
    [answer] = read(*values)
    assert (names(answer), answer.answer) == (["a"], "Ann.")
    assert answer.notes == ["spans lost attributes, though none of a retrieval"]


def tokens(prompt: int, output: int, **more: Any) -> dict[str, Any]:
    """Return the attributes of a call of a model."""
    return {"llm.token_count.prompt": prompt, "llm.token_count.completion": output, **more}


def test_only_the_innermost_calls_are_counted() -> None:
    """10 + 20 prompt tokens of two inner calls: what the spans around them say again isn't added."""
    values = [
        span(1, None, "CHAIN", attributes=tokens(30, 3)),
        span(2, 1, "LLM", attributes=tokens(30, 3)),
        span(3, 2, "LLM", attributes=tokens(10, 1, **{"llm.cost.total": 0.5, "llm.model_name": "small"})),
        span(4, 2, "LLM", attributes=tokens(20, 2, **{"llm.cost.prompt": 1, "llm.cost.completion": 2})),
    ]
    [answer] = read(*values)
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens) == (2, 30, 3)
    assert (answer.cost, answer.model) == (3.5, "small")


def test_tokens_of_an_outer_call_stand_for_the_inner() -> None:
    """If only the outer of two nested spans counts, its 10 tokens are the sum, of one call."""
    values = [
        span(1, None, "LLM", attributes=tokens(10, 1)),
        span(2, 1, "LLM", attributes={"llm.model_name": "unknown"}),
    ]
    [answer] = read(*values)
    assert (answer.model_calls, answer.prompt_tokens, answer.model) == (1, 10, None)


def test_a_part_of_the_tokens_is_no_sum() -> None:
    """A call that doesn't tell its tokens leaves the sum unknown; a failed one has none to tell."""
    counted, silent = span(2, 1, "LLM", attributes=tokens(10, 1)), span(3, 1, "LLM")
    failed = {**silent, "status": {"status_code": "ERROR", "description": "rate limit"}}
    [unknown] = read(span(1, None, "CHAIN"), counted, silent)
    [known] = read(span(1, None, "CHAIN"), counted, failed)
    assert (unknown.prompt_tokens, unknown.output_tokens) == (None, None)
    assert unknown.notes == [
        "some calls of a model don't log their prompt tokens: it has no sum",
        "some calls of a model don't log their output tokens: it has no sum",
    ]
    assert (known.prompt_tokens, known.model_calls, known.error) == (10, 2, None)
    assert known.notes == ["a span failed within a question that was answered"]


@pytest.mark.parametrize(
    ("status", "events"),
    [
        ({"status": {"status_code": "ERROR", "description": "no index"}}, []),
        ({"status": {"status_code": "ERROR"}}, [{"exception.type": "Missing", "exception.message": "no index"}]),
        ({"status": {"code": 2, "message": "no index"}}, []),
        ({"status": {"code": "STATUS_CODE_ERROR", "message": "no index"}}, []),
        ({"status_code": "ERROR", "status_message": "no index", "status": None}, []),
    ],
)
def test_errors(status: dict[str, Any], events: list[dict[str, Any]]) -> None:
    """The outermost span's failure is the question's, with what was thrown."""
    thrown = [{"name": "exception", "timestamp": "x", "attributes": one} for one in events]
    [answer] = read({**span(1, None, "CHAIN", **status), "events": thrown}, span(2, 1, "LLM"))
    assert (answer.error, answer.error_type) == ("no index", "Missing" if events else None)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("Ann.", "Ann."),
        ('{"answer": "Ann.", "context": [{"page_content": "x"}]}', "Ann."),
        ('{"response": "Ann.", "source_nodes": []}', "Ann."),
        ('{"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ann."}]}', "Ann."),
        ('{"messages": [{"type": "ai", "data": {"content": "Ann."}}]}', "Ann."),
        ('{"city": "Bern"}', '{"city": "Bern"}'),
        ("__REDACTED__", None),
        ("", None),
        (None, None),
    ],
)
def test_the_answer_is_in_the_outermost_output(output: str | None, said: str | None) -> None:
    """It is text, or a text in JSON at a common key, or the JSON itself; what was hidden is unknown."""
    [answer] = read(span(1, None, "CHAIN", attributes={"output.value": output}), span(2, 1, "LLM"))
    assert answer.answer == said


@pytest.mark.parametrize(
    "given",
    [
        "Who?",
        '{"query": "Who?"}',
        '{"query_bundle": {"query_str": "Who?"}}',
        '{"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Let me see."}]}',
        json.dumps({"messages": [[{"id": ["langchain", "HumanMessage"], "kwargs": {"content": "Who?"}}]]}),
    ],
)
def test_the_questions_text(given: str) -> None:
    """It is what the outermost span took, or a text within."""
    [answer] = read(span(1, None, "CHAIN", attributes={"input.value": given}), span(2, 1, "LLM"))
    assert answer.question_text == "Who?"


def test_a_trace_that_begins_elsewhere() -> None:
    """A span whose parent was never written is the outermost, which is reported."""
    [answer] = read(span(2, 1, "CHAIN", attributes={"output.value": "Ann."}), span(3, 2, "LLM"))
    assert (answer.answer, answer.latency_ms) == ("Ann.", 500.0)
    assert answer.notes == ["the outermost span's parent isn't in the log: latency and answer are what is there"]


def test_tools_that_ran() -> None:
    """A tool that ran has the arguments by which the model asked for it; what it gave back may be a stored message."""
    message = {"type": "tool", "data": {"content": "Ann works", "tool_call_id": "c1", "status": "success"}}
    asked = {
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "read_node",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"node": "Ann"}',
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
    }
    ran = {"tool.name": "read_node", "input.value": "Ann", "output.value": json.dumps(message)}
    answer = read(
        span(1, None, "AGENT", attributes={"question_id": "q"}),
        span(2, 1, "LLM", attributes=asked),
        span(3, 1, "TOOL", attributes=ran),
        span(4, 1, "LLM", attributes={"llm.output_messages.0.message.content": "At Acme."}),
    )[0]
    assert (answer.opened, answer.answer) == (["Ann"], "At Acme.")
    assert [(one.arguments, one.result) for one in answer.tool_calls or ()] == [({"node": "Ann"}, "Ann works")]
    # Without the tool's own span the model's call is what is known, and without the model's call the span.
    (alone,) = read(span(1, None, "LLM", attributes={"question_id": "q", **asked}))
    assert ([one.result for one in alone.tool_calls or ()], alone.opened) == ([None], ["Ann"])
    (plain,) = read(span(1, None, "TOOL", attributes={"question_id": "q", **ran, "input.value": '{"node": "Bob"}'}))
    assert plain.opened == ["Bob"]


def test_metadata_that_were_taken_apart() -> None:
    """Phoenix writes the metadata of a document as attributes with dotted names."""
    flat = {
        "retrieval.documents.0.document.content": "x",
        "retrieval.documents.0.document.metadata.source": "a.md",
        "retrieval.documents.0.document.metadata.triples.0.source": "A",
        "retrieval.documents.0.document.metadata.triples.0.relation": "R",
        "retrieval.documents.0.document.metadata.triples.0.target": "B",
    }
    (answer,) = read(span(1, None, "RETRIEVER", attributes={"metadata.question_id": "q", **flat}))
    assert (answer.question, names(answer), edges(answer)) == ("q", ["a.md", "A", "B"], [("A", "R", "B")])


def test_nodes_of_edges_and_of_rows() -> None:
    """The node of an edge has an id drawn at random: its ends were retrieved; rows of Cypher are edges.

    A document whose id is drawn at random is named by its metadata.
    """
    rows = [{"source": "A", "relation": "R", "target": "C"}]
    texts = ("A -> R -> B", f"Generated Cypher query:\nMATCH\n\nCypher Response:\n{rows}", "Prose.")
    attributes: dict[str, Any] = {"question_id": "q"}
    for number, content in enumerate(texts):
        attributes[f"retrieval.documents.{number}.document.id"] = f"0000000{number}-0000-4000-8000-000000000000"
        attributes[f"retrieval.documents.{number}.document.content"] = content
    attributes["retrieval.documents.2.document.metadata"] = '{"file_name": "a.md"}'
    (answer,) = read(span(1, None, "RETRIEVER", attributes=attributes))
    assert edges(answer) == [("A", "R", "B"), ("A", "R", "C")]
    assert names(answer) == ["A", "B", "C", "a.md"]


def test_the_name_finds_the_reader() -> None:
    """The registry knows it, and other spans aren't its own."""
    assert isinstance(reader_of("openinference"), OpenInferenceReader)
    other = span(1, None, "LLM")
    other["attributes"] = {"http.method": "GET"}
    assert not OpenInferenceReader().recognises(other)
    assert not OpenInferenceReader().recognises({"question_id": "q1", "nodes": []})
    assert list(OpenInferenceReader().read([], ReadOptions(), Counter())) == []
