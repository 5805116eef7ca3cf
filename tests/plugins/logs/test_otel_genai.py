"""OpenTelemetry's spans of generative AI: what they say of a question, and what they can't."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.otel_genai import OpenTelemetryReader
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError
from tests.plugins.logs.test_spans import names, otlp
from tests.plugins.logs.test_spans import span as sdk_span

RANKED = json.dumps([{"id": "a", "score": 0.5}, {"id": 7}])


def span(number: int, parent: int | None, operation: str, **more: Any) -> dict[str, Any]:
    """Return a span of an operation; attributes below ``gen_ai`` are named without it."""
    one = sdk_span(number, parent, "", **{name: more.pop(name) for name in ("status", "events") if name in more})
    one["attributes"] = {"gen_ai.operation.name": operation}
    one["attributes"] |= {f"gen_ai.{name.replace('__', '.')}": value for name, value in more.items()}
    return one


def read(*values: Any, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Read the values of a file, each on a line of its own, each of which has to be recognised."""
    assert all(map(OpenTelemetryReader().recognises, values))
    placed = [(f"log.jsonl:{line}", value) for line, value in enumerate(values, 1)]
    return list(OpenTelemetryReader().read(placed, ReadOptions(), Counter() if unread is None else unread))


def test_a_question() -> None:
    """Ranking with scores, tokens of the innermost calls (10 + 20), model, latency and the texts; no traversal."""
    said = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Ann."}]}
    ]
    asked = [{"role": "system", "parts": []}, {"role": "user", "parts": [{"type": "text", "content": "Who?"}]}]
    unread: Counter[str] = Counter()
    [answer] = read(
        span(
            1,
            None,
            "invoke_agent",
            usage__input_tokens=30,
            input__messages=json.dumps(asked),
            output__messages=json.dumps(said),
        ),
        span(2, 1, "retrieval", retrieval__documents=RANKED, retrieval__query__text="who"),
        span(3, 1, "chat", usage__input_tokens=10, usage__output_tokens=1, request__model="m"),
        span(4, 1, "chat", usage__prompt_tokens=20, usage__completion_tokens=2, response__model="m-1", system="x"),
        unread=unread,
    )
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.score, chunk.text) for chunk in answer.retrieved] == [
        ("a", 0.5, None),
        ("7", None, None),
    ]
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls, answer.model) == (30, 3, 2, "m-1")
    assert (answer.question, answer.question_text, answer.answer) == (None, "Who?", "Ann.")
    assert (answer.traversal, answer.latency_ms, answer.cost) == (None, 500.0, None)
    assert answer.notes == ["several models were called: the last is named"]
    assert unread == {"attributes.gen_ai.system": 1}


def test_the_ids_of_the_trace() -> None:
    """The outermost span, its trace, and the response of the last call of a model: by these, scores find the span."""
    [answer] = read(
        span(1, None, "invoke_agent"),
        span(2, 1, "chat", response__id="first"),
        span(3, 1, "chat", response__id="last"),
        span(4, 1, "retrieval", retrieval__documents=RANKED),
    )
    outer = sdk_span(1, None, "")["context"]
    hexes = outer["trace_id"].removeprefix("0x"), outer["span_id"].removeprefix("0x")
    assert (answer.trace, answer.span, answer.response) == (*hexes, "last")


def test_a_retrieval_alone() -> None:
    """It is its own outermost span; its query is the question's text; no model was called."""
    [answer] = read(span(1, None, "retrieval", retrieval__documents="[]", retrieval__query__text="Who?"))
    assert (answer.retrieved, answer.question_text, answer.model_calls, answer.prompt_tokens) == ([], "Who?", 0, None)


def test_documents_may_not_be_logged() -> None:
    """They are by choice: without them nothing is known of what was retrieved."""
    [answer] = read(span(1, None, "retrieval"), span(2, 1, "chat"))
    assert answer.retrieved is None
    assert answer.notes == ["a retrieval doesn't log its documents"]


def test_documents_as_structured_values() -> None:
    """OTLP holds them as an array of maps as well as in a text."""
    fields = [{"key": "id", "value": {"stringValue": "a"}}, {"key": "score", "value": {"doubleValue": 0.5}}]
    value = {"arrayValue": {"values": [{"kvlistValue": {"values": fields}}]}}
    [answer] = read(otlp([{"key": "gen_ai.retrieval.documents", "value": value}], "a" * 32, "b" * 16))
    assert names(answer) == ["a"]


def test_evaluations_of_others_are_reported() -> None:
    """Somebody else's scores aren't ours: they are named, not read."""
    event = {"name": "gen_ai.evaluation.result", "attributes": {"gen_ai.evaluation.name": "Relevance"}}
    [answer] = read(span(1, None, "chat", events=[event]))
    assert answer.notes == ["it holds an evaluation of others, 'Relevance', that isn't read"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (span(1, None, "retrieval", retrieval__documents=RANKED[:20]), "isn't a whole JSON list"),
        ({**span(1, None, "retrieval"), "dropped_attributes": 3}, "lost 3 attributes, and has no documents"),
    ],
)
def test_what_was_cut_is_refused(value: dict[str, Any], words: str) -> None:
    """Documents that were cut or dropped could only mislead."""
    with pytest.raises(UnreadableLogError, match=words) as caught:
        read(value)
    assert caught.value.where == "log.jsonl:1, span 0000000000000001"
    assert "Set OTEL_" in str(caught.value.remedy) or "Unset OTEL_" in str(caught.value.remedy)


def test_failures() -> None:
    """The status of the outermost span and its error.type are the question's."""
    one = span(1, None, "chat", status={"status_code": "ERROR", "description": "too slow"})
    one["attributes"]["error.type"] = "timeout"
    [answer] = read(one)
    assert (answer.error, answer.error_type) == ("too slow", "timeout")


def test_the_name_finds_the_reader() -> None:
    """On the command line it is ``otel``."""
    assert isinstance(reader_of("otel"), OpenTelemetryReader)
    assert not OpenTelemetryReader().recognises(sdk_span(1, None, "LLM"))


def test_tools() -> None:
    """A tool that ran is a call, with the arguments that the model asked it with where it has none of its own."""
    asked = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "read", "arguments": {"id": "a"}}]}
    ]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]
    spans = [
        span(1, None, "invoke_agent"),
        span(2, 1, "chat", output__messages=json.dumps(asked)),
        span(3, 1, "execute_tool", tool__name="read", tool__call__id="c", tool__call__result="text"),
        span(4, 1, "chat", output__messages=json.dumps(said)),
    ]
    spans[0]["attributes"]["question_id"] = "q"
    (answer,) = read(*spans)
    assert (answer.opened, answer.answer) == (["a"], "Done.")
    assert [(one.name, one.result) for one in answer.tool_calls or ()] == [("read", "text")]


def test_steps_of_openllmetry() -> None:
    """Its retrievals have their documents in what the step gave, with edges in their metadata; so have the texts."""
    triple = {"source": "A", "relation": "R", "target": "B"}
    documents = [{"page_content": "x", "metadata": {"source": "a.md", "triples": [triple]}}]
    outer, inner = span(1, None, "invoke_agent"), span(2, 1, "vector_db_retrieve")
    outer["attributes"] |= {
        "traceloop.association.properties.question_id": "q",
        "traceloop.entity.input": '{"inputs": {"question": "Who?"}}',
        "traceloop.entity.output": '{"outputs": {"answer": "B."}}',
    }
    inner["attributes"]["traceloop.entity.output"] = json.dumps({"documents": documents})
    (answer,) = read(outer, inner)
    assert (answer.question, answer.question_text, answer.answer, names(answer)) == (
        "q",
        "Who?",
        "B.",
        ["a.md", "A", "B"],
    )
    assert [[(edge.source, edge.relation, edge.target) for edge in path] for path in answer.traversal or ()] == [
        [("A", "R", "B")]
    ]
