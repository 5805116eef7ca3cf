"""The forms of spans, and how they are put together by question."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.openinference import OpenInferenceReader
from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError

TRACE = "0af7651916cd43dd8448eb211c80319c"
#: The same bytes in base64.
TRACE_64 = "CvdlGRbNQ92ESOshHIAxnA=="
KIND = "openinference.span.kind"


def span(number: int, parent: int | None, kind: str, trace: str = TRACE, **more: Any) -> dict[str, Any]:
    """Return a span of the SDK's form that begins at ``number`` seconds and takes half of one."""
    attributes = {KIND: kind, **more.pop("attributes", {})}
    return {
        "name": f"span {number}",
        "context": {"trace_id": f"0x{trace}", "span_id": f"0x{number:016x}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None if parent is None else f"0x{parent:016x}",
        "start_time": f"2026-11-22T05:05:{number:02d}.000000Z",
        "end_time": f"2026-11-22T05:05:{number:02d}.500000Z",
        "status": {"status_code": "OK"},
        "attributes": attributes,
        "events": [],
        "links": [],
        "resource": {"attributes": {}, "schema_url": ""},
        **more,
    }


def documents(*names: str) -> dict[str, Any]:
    """Return the attributes of a retrieval that found documents of these ids."""
    return {f"retrieval.documents.{place}.document.id": name for place, name in enumerate(names)}


def read(*values: Any, key: str | None = None, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Read the values of a file, each on a line of its own."""
    placed = [(f"log.jsonl:{line}", value) for line, value in enumerate(values, 1)]
    return list(
        OpenInferenceReader().read(placed, ReadOptions(question_key=key), Counter() if unread is None else unread)
    )


def names(answer: LoggedAnswer) -> list[str] | None:
    """Return the names of what was retrieved."""
    return None if answer.retrieved is None else [chunk.name for chunk in answer.retrieved]


#: One retrieval that found a and b in 250 ms for the question q1, whose text is "Who?".
OTLP_ATTRIBUTES: list[dict[str, Any]] = [
    {"key": KIND, "value": {"stringValue": "RETRIEVER"}},
    {"key": "metadata", "value": {"stringValue": '{"question_id": "q1"}'}},
    {"key": "input.value", "value": {"stringValue": "Who?"}},
    {"key": "retrieval.documents.0.document.id", "value": {"stringValue": "a"}},
    {"key": "retrieval.documents.0.document.score", "value": {"doubleValue": 0.5}},
    {"key": "retrieval.documents.1.document.id", "value": {"stringValue": "b"}},
    {"key": "retrieval.documents.1.document.score", "value": {"intValue": "0"}},
]
FLAT = {
    KIND: "RETRIEVER",
    "metadata": '{"question_id": "q1"}',
    "input.value": "Who?",
    "retrieval.documents.0.document.id": "a",
    "retrieval.documents.0.document.score": 0.5,
    "retrieval.documents.1.document.id": "b",
    "retrieval.documents.1.document.score": 0,
}
NESTED = {
    "openinference": {"span": {"kind": "RETRIEVER"}},
    "metadata": {"question_id": "q1"},
    "input": {"value": "Who?"},
    "retrieval": {
        "documents": [{"document": {"id": "a", "score": 0.5}}, {"document": {"id": "b", "score": 0}}],
    },
}


def otlp(attributes: list[dict[str, Any]], trace: str, own: str, **more: Any) -> dict[str, Any]:
    """Return an export of one span, which began at 1 s and ended 250 ms later."""
    one = {
        "traceId": trace,
        "spanId": own,
        "name": "retrieve",
        "kind": 1,
        "startTimeUnixNano": "1795323901000000000",
        "endTimeUnixNano": "1795323901250000000",
        "attributes": attributes,
        "status": {},
        **more,
    }
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": [one]}]}]}


def snake(value: Any) -> Any:
    """Return OTLP JSON with its keys in snake case, as MessageToDict writes them when it preserves names."""
    if isinstance(value, dict):
        return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): snake(one) for key, one in value.items()}
    return [snake(one) for one in value] if isinstance(value, list) else value


SDK = {
    **span(1, None, "RETRIEVER", attributes=FLAT),
    "end_time": "2026-11-22T05:05:01.250000Z",
}
PHOENIX: dict[str, Any] = {
    "id": "U3BhbjoyNA==",
    "name": "retrieve",
    "context": {"trace_id": TRACE, "span_id": f"{1:016x}"},
    "span_kind": "RETRIEVER",
    "parent_id": None,
    "start_time": "2026-11-22T05:05:01+00:00",
    "end_time": "2026-11-22T06:05:01.250000+01:00",
    "status_code": "UNSET",
    "status_message": "",
    "attributes": {name: value for name, value in FLAT.items() if name != KIND},
    "events": [],
}
ROW = {
    "name": "retrieve",
    "span_kind": "RETRIEVER",
    "parent_id": None,
    "start_time": 1795323901000,
    "end_time": 1795323901250,
    "status_code": "OK",
    "status_message": "",
    "events": [],
    "context.span_id": f"{1:016x}",
    "context.trace_id": TRACE,
    "attributes.metadata": {"question_id": "q1"},
    "attributes.input.value": "Who?",
    "attributes.output.value": None,
    "attributes.retrieval.documents": [
        {"document.id": "a", "document.score": 0.5},
        {"document.id": "b", "document.score": 0},
    ],
}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(SDK, id="SDK"),
        pytest.param({**SDK, "attributes": NESTED}, id="nested attributes"),
        pytest.param(PHOENIX, id="Phoenix"),
        pytest.param({"data": [PHOENIX], "next_cursor": None}, id="Phoenix page"),
        pytest.param(ROW, id="Phoenix row"),
        pytest.param(otlp(OTLP_ATTRIBUTES, TRACE, f"{1:016x}"), id="OTLP hex"),
        pytest.param(otlp(OTLP_ATTRIBUTES, TRACE_64, "AAAAAAAAAAE="), id="OTLP base64"),
        pytest.param(snake(otlp(OTLP_ATTRIBUTES, TRACE_64, "AAAAAAAAAAE=")), id="OTLP snake case"),
    ],
)
def test_each_form_says_the_same(value: dict[str, Any]) -> None:
    """The question, the ranking with scores, the text and the 250 ms are read from every form of one span."""
    assert OpenInferenceReader().recognises(value)
    unread: Counter[str] = Counter()
    [answer] = read(value, unread=unread)
    assert (answer.question, answer.question_text, answer.latency_ms) == ("q1", "Who?", 250.0)
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.score) for chunk in answer.retrieved] == [("a", 0.5), ("b", 0.0)]
    assert (answer.answer, answer.traversal, answer.error, answer.notes) == (None, None, None, [])
    assert answer.taken == {"question id": "metadata.question_id"}
    assert answer.where.startswith("log.jsonl:1, trace 0af765")
    assert not unread


def test_lists_and_maps_of_otlp_are_values() -> None:
    """Documents as an OTLP array of maps are the same as their dotted names."""
    inner = [
        {"kvlistValue": {"values": [{"key": "document", "value": {"kvlistValue": {"values": fields}}}]}}
        for fields in (
            [{"key": "id", "value": {"stringValue": "a"}}, {"key": "score", "value": {"doubleValue": 0.5}}],
            [{"key": "id", "value": {"intValue": "7"}}],
        )
    ]
    attributes = [*OTLP_ATTRIBUTES[:3], {"key": "retrieval.documents", "value": {"arrayValue": {"values": inner}}}]
    [answer] = read(otlp(attributes, TRACE, f"{1:016x}"))
    assert names(answer) == ["a", "7"]


def test_kinds_that_are_null() -> None:
    """Phoenix writes an attribute with every kind of value: the one that isn't null counts."""
    one = {"array_value": None, "bool_value": None, "int_value": None, "kvlist_value": None, "string_value": "q"}
    kind = {"key": KIND, "value": {"int_value": None, "string_value": "LLM"}}
    found = otlp([{"key": "question_id", "value": one}, kind], TRACE, "00000000000000aa")
    assert [answer.question for answer in read(found)] == ["q"]


def test_spans_of_a_trace_may_lie_apart() -> None:
    """Two traces, whose spans are mixed and in any order, are two questions, in the order of their first spans."""
    other = "b" * 32
    values = [
        span(2, 1, "RETRIEVER", attributes=documents("a")),
        span(4, 3, "RETRIEVER", trace=other, attributes=documents("b")),
        span(3, None, "CHAIN", trace=other, attributes={"input.value": "Where?", "output.value": "There."}),
        span(1, None, "CHAIN", attributes={"input.value": "Who?", "output.value": "Ann."}),
    ]
    assert [(one.question_text, names(one), one.answer) for one in read(*values)] == [
        ("Who?", ["a"], "Ann."),
        ("Where?", ["b"], "There."),
    ]


def test_several_traces_of_a_question_are_one_answer() -> None:
    """A retrieval of 500 ms in one trace and a model's answer of 500 ms in another make one answer of 1 s."""
    asked = {"metadata": '{"question_id": "q1"}'}
    values = [
        span(1, None, "RETRIEVER", attributes={**asked, **documents("a")}),
        span(2, None, "LLM", trace="b" * 32, attributes={**asked, "output.value": "Ann.", "llm.token_count.prompt": 5}),
    ]
    [answer] = read(*values)
    assert (names(answer), answer.answer, answer.latency_ms) == (["a"], "Ann.", 1000.0)
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens) == (1, 5, None)
    assert answer.notes == ["several traces have this question's id: they are merged"]


def test_attempts_are_not_added_up() -> None:
    """Two traces of one question that each retrieve and answer are two answers, not one of twice the documents."""
    values = [
        span(n, None, "CHAIN", trace=trace, attributes={"question_id": "q1", "output.value": said})
        for n, trace, said in ((1, TRACE, "Ann."), (3, "b" * 32, "Bob."))
    ]
    values += [
        span(n, n - 1, "RETRIEVER", trace=trace, attributes=documents("a")) for n, trace in ((2, TRACE), (4, "b" * 32))
    ]
    assert [(one.question, names(one), one.answer) for one in read(*values)] == [
        ("q1", ["a"], "Ann."),
        ("q1", ["a"], "Bob."),
    ]


def test_a_trace_of_several_questions_is_taken_apart() -> None:
    """If one span lies around all questions, each has what lies below the span with its id, and its own time."""
    unread: Counter[str] = Counter()
    values = [
        span(1, None, "CHAIN"),
        span(2, 1, "CHAIN", attributes={"metadata": '{"question_id": "q1"}'}),
        span(3, 2, "RETRIEVER", attributes=documents("a")),
        span(4, 1, "CHAIN", attributes={"metadata": '{"question_id": "q2"}'}),
        span(5, 4, "RETRIEVER", attributes=documents("b")),
    ]
    answers = read(*values, unread=unread)
    assert [(one.question, names(one), one.latency_ms) for one in answers] == [
        ("q1", ["a"], 500.0),
        ("q2", ["b"], 500.0),
    ]
    assert unread == {"spans around several questions": 1}


@pytest.mark.parametrize(
    ("attributes", "key", "question", "taken"),
    [
        ({"metadata": '{"question_id": "q1"}'}, None, "q1", "metadata.question_id"),
        ({"metadata": {"queryId": 7}}, None, "7", "metadata.queryId"),
        ({"metadata.question_id": "q1"}, None, "q1", "metadata.question_id"),
        ({"app.question_id": "q1"}, None, "q1", "app.question_id"),
        ({"question.id": "q1"}, None, "q1", "question.id"),
        ({"metadata": '{"case": "q1"}'}, "case", "q1", "metadata.case"),
        ({"metadata": '{"case": "q1"}'}, "metadata.case", "q1", "metadata.case"),
        ({"my.case": "q1", "question_id": "x"}, "my.case", "q1", "my.case"),
        ({"session.id": "q1"}, "session.id", "q1", "session.id"),
        ({"session.id": "q1"}, None, "q1", "session.id"),
        ({"session.id": "s1", "question_id": "q1"}, None, "q1", "question_id"),
        ({"metadata": '{"question_id": '}, None, None, None),
    ],
)
def test_the_questions_id(attributes: dict[str, Any], key: str | None, question: str | None, taken: str | None) -> None:
    """It is in the metadata or an attribute; a session's is taken where there is no other."""
    [answer] = read(span(1, None, "RETRIEVER", attributes={**attributes, **documents("a")}), key=key)
    assert (answer.question, answer.taken.get("question id")) == (question, taken)


def test_a_question_around_its_spans() -> None:
    """Spans that the user wrapped in a line with the question's id are that question's."""
    inside = [span(1, None, "CHAIN"), span(2, 1, "RETRIEVER", attributes=documents("a"))]
    unread: Counter[str] = Counter()
    [answer] = read({"question_id": "q9", "note": "x", "trace": {"spans": inside}}, unread=unread)
    assert (answer.question, names(answer), answer.taken) == ("q9", ["a"], {"question id": "question_id"})
    assert unread == {"note": 1}


def test_a_key_that_is_not_there_is_refused() -> None:
    """If the user named the key of the question's id, a trace without it is refused, with its trace and line."""
    with pytest.raises(UnreadableLogError, match=r"log.jsonl:1, trace 0af7.*no span .*'case'"):
        read(span(1, None, "RETRIEVER", attributes=documents("a")), key="case")


def test_a_trace_without_retrieval_is_no_question() -> None:
    """Traces of building an index, say, are counted and left out."""
    unread: Counter[str] = Counter()
    assert read(span(1, None, "CHAIN"), span(2, 1, "EMBEDDING"), unread=unread) == []
    assert unread == {"traces without a retrieval or a call of a model": 1}


def test_a_span_sent_twice_counts_once() -> None:
    """An exporter that tried again is seen through: two documents stay two, and the repeat is reported."""
    unread: Counter[str] = Counter()
    one = span(1, None, "RETRIEVER", attributes=documents("a", "b"))
    [answer] = read(one, one, unread=unread)
    assert names(answer) == ["a", "b"]
    assert unread == {"spans that were there twice": 1}


def test_parents_in_a_circle_end() -> None:
    """Spans that are each other's parent are read, and the first counts as the outermost."""
    [answer] = read(span(1, 2, "CHAIN", attributes={"output.value": "Ann."}), span(2, 1, "LLM"))
    assert (answer.answer, answer.model_calls) == ("Ann.", 1)


@pytest.mark.parametrize(
    "value",
    [
        {"resourceSpans": [7]},
        {"resourceSpans": [{"scopeSpans": {"spans": []}}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "without ids"}]}]}]},
        otlp([{"key": KIND, "value": {"stringValue": "LLM"}}, 7], TRACE, f"{1:016x}"),  # type: ignore[list-item]
        {"neither": "spans"},
        [],
    ],
)
def test_what_is_no_span_is_refused(value: Any) -> None:
    """Something else in the place of spans is an error with its line, never a bare exception."""
    with pytest.raises(UnreadableLogError, match=r"log\.jsonl:1"):
        read(value)


def test_nesting_is_bounded() -> None:
    """Attributes nested 5,000 deep are refused and exhaust nothing."""
    deep: Any = "x"
    for _ in range(5000):
        deep = {"documents": deep}
    with pytest.raises(UnreadableLogError, match="nested more than 32 deep"):
        read(span(1, None, "RETRIEVER", attributes={"retrieval": deep}))


@pytest.mark.parametrize(
    "more",
    [
        {"start_time": "never"},
        {"start_time": 10**400},
        {"start_time": "9" * 4000},
        {"start_time": None},
        {"start_time": True},
    ],
)
def test_times_that_are_none_leave_latency_out(more: dict[str, Any]) -> None:
    """A time that can't be read leaves the latency unknown, never 0."""
    [answer] = read({**span(1, None, "LLM"), **more})
    assert answer.latency_ms is None


def test_clocks_that_run_backwards_leave_latency_out() -> None:
    """A span that ends before it begins has no latency."""
    [answer] = read({**span(9, None, "LLM"), "end_time": "2026-11-22T05:05:01.000000Z"})
    assert answer.latency_ms is None
