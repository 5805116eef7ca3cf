"""Unlogged values are None in every format, and never an empty list, which means that there was nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import import_log
from graphkit.readers.known_formats import formats, reader_of
from graphkit.readers.logged import LoggedAnswer, ReadOptions
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.test_one_search import PREAMBLE
from tests.plugins.logs.test_spans import span
from tests.plugins.logs.test_traced_functions import REPLY, call, observation
from tests.plugins.logs.test_traced_functions import span as function

#: Conversations and trajectories of agents, which have tests of their own of what their tools opened.
OF_FILES = (
    "claude-code",
    "codex",
    "mcp",
    "openhands",
    "mini-swe-agent",
    "swe-agent",
    "opencode",
    "copilot",
    "cursor",
    "aider",
)
OF_FRAMEWORKS = ("openai-agents", "pydantic-ai", "smolagents", "google-adk", "autogen", "haystack", "dspy")
OF_AGENTS = ("inspect", "atif", "messages", *OF_FRAMEWORKS, *OF_FILES)


def traced(kind: str, **attributes: Any) -> dict[str, Any]:
    """Return a span of OpenInference about the question q."""
    return span(1, None, kind, attributes={"metadata": '{"question_id": "q"}', **attributes})


def convention(**attributes: Any) -> dict[str, Any]:
    """Return a span of OpenTelemetry's conventions about the question q."""
    one = span(1, None, "")
    one["attributes"] = {
        "question_id": "q",
        **{f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()},
    }
    return one


NODE = {"node": {"id_": "a.md", "text": "Prose.", "class_name": "TextNode"}, "score": 0.5}
DOCUMENT = {"page_content": "Prose.", "metadata": {"id": "a.md"}}

#: What a format can log of a question without a word about one of the fields, by the fields that are None then.
ALL = ("retrieved", "traversal", "citations", "tool_calls")
NO_WALK = ("traversal", "citations", "tool_calls")
SILENT: list[tuple[str, Any, tuple[str, ...]]] = [
    ("graphkit", {"run": "r", "question_id": "q", "answer": "Yes."}, ALL),
    ("graphkit", {"run": "r", "question_id": "q", "retrieved": None, "traversal": None}, ALL),
    ("openinference", traced("LLM", **{"output.value": "Yes."}), ALL),
    ("openinference", traced("RETRIEVER", **{"output.value": "<object>"}), ALL),
    ("openinference", traced("RETRIEVER", **{"retrieval.documents.0.document.id": "a.md"}), NO_WALK),
    ("otel", convention(operation__name="chat"), ALL),
    ("otel", convention(operation__name="retrieval"), ALL),
    ("otel", convention(operation__name="retrieval", retrieval__documents='[{"id": "a.md"}]'), NO_WALK),
    (
        "graphrag",
        {"question_id": "q", "response": "Yes.", "context_data": {"reports": [{"id": 1, "title": "T"}]}},
        ALL[:2],
    ),
    ("graphrag", {"question_id": "q", "result": {"response": "Yes.", "context_data": {}}}, ALL),
    ("lightrag", {"question_id": "q", "response": "Yes.", "references": [{"reference_id": "1"}]}, ALL[:2]),
    (
        "lightrag",
        {
            "question_id": "q",
            "status": "success",
            "message": "",
            "data": {"chunks": [{"content": "x"}]},
            "metadata": {"query_mode": "naive"},
        },
        NO_WALK,
    ),
    ("neo4j-graphrag", {"question_id": "q", "answer": "Yes.", "retriever_result": None}, ALL),
    (
        "neo4j-graphrag",
        {"question_id": "q", "result": {"items": [{"content": "x", "metadata": {"id": "a"}}], "metadata": {}}},
        NO_WALK,
    ),
    ("llama-index", {"question_id": "q", "answer": "Yes.", "tags": [], "errors": []}, ALL),
    ("llama-index", {"question_id": "q", "nodes": [NODE]}, NO_WALK),
    (
        "llama-index",
        {
            "id_": "1",
            "timestamp": "2026-01-01",
            "span_id": "s",
            "class_name": "QueryEndEvent",
            "query": "q",
            "response": "Yes.",
        },
        ALL,
    ),
    ("langchain", {"question_id": "q", "query": "?", "result": "Yes."}, ALL),
    ("langchain", {"question_id": "q", "result": {"context": [DOCUMENT], "answer": "Yes."}}, NO_WALK),
    ("ragas", {"question_id": "q", "user_input": "?", "response": "Yes."}, ALL),
    ("ragas", {"question_id": "q", "user_input": "?", "retrieved_contexts": ["x"]}, NO_WALK),
    ("locagent", {"instance_id": "q", "found_files": ["a.py"]}, ALL),
    ("locagent", {"instance_id": "q", "found_entities": ["a.py:f"]}, NO_WALK),
    ("graphiti", {"question_id": "q", "results": None, "answer": "Yes."}, ALL),
    ("cognee", {"question_id": "q", "results": [{"dataset_id": "d", "search_result": ["Yes."]}]}, ALL),
    ("locagent", {"instance_id": "q", "found_files": ["a.py"], "found_edit_locs": [["line: 3"]]}, ALL),
    ("mlflow", {"data": {"spans": [function("ask", None, "CHAT_MODEL", {"question": "?"}, REPLY)]}}, ALL),
    ("mlflow", {"data": {"spans": [function("find", None, "RETRIEVER", {"query": "?"}, [DOCUMENT])]}}, NO_WALK),
    ("weave", call("ask", None, {"question": "?"}, REPLY), ALL),
    ("weave", call("retrieve", None, {"query": "?"}, [DOCUMENT]), NO_WALK),
    ("langfuse", observation("ask", "GENERATION", {"question": "?"}, {"role": "assistant", "content": "Yes."}), ALL),
    ("langfuse", observation("find", "RETRIEVER", {"query": "?"}, [DOCUMENT]), NO_WALK),
    ("promptfoo", {"promptIdx": 0, "testCase": {}, "vars": {"qid": "q"}, "response": {"output": "Yes."}}, ALL),
    ("promptfoo", {"promptIdx": 0, "testCase": {}, "vars": {"qid": "q", "context": "x"}, "response": {}}, NO_WALK),
    ("deepeval", {"input": "?", "actual_output": "Yes.", "retrieval_context": None, "context": None}, ALL),
    ("deepeval", {"input": "?", "actual_output": None, "retrieval_context": ["x"], "context": None}, NO_WALK),
    ("swe-bench", {"instance_id": "q", "model_patch": "no patch"}, ALL),
    ("swe-bench", {"instance_id": "q", "model_patch": ""}, NO_WALK),
    ("beir", {"q": {"a.md": 1.0}}, NO_WALK),
    ("trec", "q Q0 a.md 1 1.0 r", NO_WALK),
]


def read(name: str, value: Any) -> LoggedAnswer:
    """Return the one answer that a reader reads of a value."""
    (answer,) = reader_of(name).read([("log:1", value)], ReadOptions(), Counter())
    return answer


def said(answer: LoggedAnswer, field: str) -> Any:
    """Return what an answer says of a field; of a record of graphkit's own, by its name there."""
    own = {"walk": "traversal"}.get(field, field)
    return getattr(answer, field) if answer.record is None else answer.record.get(own)


@pytest.mark.parametrize(("name", "value", "fields"), SILENT)
def test_what_is_not_logged_is_none(name: str, value: Any, fields: tuple[str, ...]) -> None:
    """A field of which the log says nothing is None."""
    answer = read(name, value)
    assert {field: said(answer, field) for field in fields} == dict.fromkeys(fields)


def test_every_format_is_looked_at() -> None:
    """A new format needs its lines above."""
    assert {name for name, _, _ in SILENT} | {*OF_AGENTS} == set(formats())


#: Edges that are there, of which none can be read.
LIGHTRAG = {"entities": [{"entity_name": "a"}], "relationships": [{"src_id": "a"}], "chunks": []}
GRAPHRAG = {"entities": [{"id": "1", "entity": "A"}], "relationships": [{"id": "1", "source": "A"}]}
ROW = {"type": "CALLS", "start": {}, "end": {}}
UNREADABLE: list[tuple[str, Any]] = [
    (
        "openinference",
        traced(
            "RETRIEVER",
            **{
                "retrieval.documents.0.document.id": "a",
                "retrieval.documents.0.document.metadata": '{"triples": ["a R b"]}',
            },
        ),
    ),
    (
        "openinference",
        traced(
            "RETRIEVER",
            **{
                "retrieval.documents.0.document.content": f"{PREAMBLE}a -> b -> c -> d\n\nx",
                "retrieval.documents.0.document.id": "a",
            },
        ),
    ),
    ("graphrag", {"question_id": "q", "result": ["Yes.", GRAPHRAG]}),
    ("lightrag", {"question_id": "q", "data": LIGHTRAG}),
    (
        "neo4j-graphrag",
        {
            "question_id": "q",
            "result": {"items": [{"content": "x", "metadata": {"id": "a", "triples": ["a R b"]}}], "metadata": {}},
        },
    ),
    ("neo4j-graphrag", {"question_id": "q", "result": {"records": [{"id": "a", "r": ROW}], "metadata": {}}}),
    (
        "llama-index",
        {"question_id": "q", "nodes": [{"node": {"id_": "a", "text": f"{PREAMBLE}a -> b -> c -> d\n\nx"}}]},
    ),
    (
        "langchain",
        {
            "question_id": "q",
            "context": [{"page_content": "x", "metadata": {"id": "a", "triples": ["a R b"]}}],
            "answer": "y",
        },
    ),
]


@pytest.mark.parametrize(("name", "value"), UNREADABLE)
def test_edges_that_cannot_be_read_are_no_empty_walk(name: str, value: Any) -> None:
    """The walk isn't known where edges are there and none can be read, and that is reported or counted."""
    unread: Counter[str] = Counter()
    (answer,) = reader_of(name).read([("log:1", value)], ReadOptions(), unread)
    assert answer.traversal is None
    assert answer.notes or unread


NOTHING_FOUND: list[tuple[str, Any]] = [
    ("graphkit", {"run": "r", "question_id": "q", "retrieved": [], "traversal": []}),
    ("openinference", traced("RETRIEVER", **{"output.value": "[]"})),
    ("otel", convention(operation__name="retrieval", retrieval__documents="[]")),
    ("graphrag", {"question_id": "q", "result": ["Yes.", {"entities": [], "relationships": [], "sources": []}]}),
    ("lightrag", {"question_id": "q", "data": {"entities": [], "relationships": [], "chunks": []}}),
    ("neo4j-graphrag", {"question_id": "q", "result": {"items": [], "metadata": {}}}),
    ("llama-index", {"question_id": "q", "response": "None.", "source_nodes": []}),
    ("langchain", {"question_id": "q", "context": [], "answer": "None."}),
    ("ragas", {"question_id": "q", "user_input": "?", "retrieved_contexts": []}),
]


@pytest.mark.parametrize(("name", "value"), NOTHING_FOUND)
def test_nothing_found_stays_an_empty_list(name: str, value: Any) -> None:
    """A search that found nothing is logged, and is none that wasn't."""
    answer = read(name, value)
    assert (answer.retrieved if answer.record is None else answer.record["retrieved"]) == []


def test_names_that_no_record_can_hold(tmp_path: Path) -> None:
    """If every name is left out, the field is: an empty list would say that nothing was found."""
    write_jsonl(tmp_path / "questions.jsonl", [{"id": "q", "question": "?", "relevant": {"a": 1}}])
    long = "x" * 1001
    value = {"question_id": "q", "result": {"records": [{"source": long, "type": "R", "target": long}], "metadata": {}}}
    log = write_jsonl(tmp_path / "log.jsonl", [value])
    made = import_log(log, "neo4j-graphrag", tmp_path)
    assert made.records[0].keys() & {"retrieved", "traversal"} == set()
    assert made.figures["left_out"]["names that are too long to be ids"] > 0
    # The log itself says that it found something.
    assert json.loads(log.read_text("utf-8"))["result"]["records"]


#: Logs of agents that never replied: that they walked nothing isn't known.
UNANSWERED: list[tuple[str, list[Any]]] = [
    ("claude-code", [{"type": "user", "sessionId": "s", "message": {"role": "user", "content": "?"}}]),
    ("codex", [{"type": "session_meta", "timestamp": "2026-01-01", "payload": {"id": "s", "cwd": "/r"}}]),
    ("openhands", [{"history": [{"source": "user", "action": "message", "args": {"content": "?"}}]}]),
    ("mini-swe-agent", [{"trajectory_format": "mini-swe-agent-1.1", "messages": [{"role": "user", "content": "?"}]}]),
    ("swe-agent", [{"trajectory": [], "history": [{"role": "user", "content": "?"}]}]),
    ("mcp", [{"jsonrpc": "2.0", "id": 1, "method": "initialize"}]),
]


@pytest.mark.parametrize(("name", "values"), UNANSWERED)
def test_an_agent_that_never_replied_is_no_walk_of_nothing(name: str, values: list[Any]) -> None:
    """Opened, found and called are None."""
    places = [(f"log:{number}", {"question_id": "q", **value}) for number, value in enumerate(values, 1)]
    (answer,) = reader_of(name).read(places, ReadOptions(), Counter())
    assert (answer.opened, answer.retrieved, answer.tool_calls) == (None, None, None)
