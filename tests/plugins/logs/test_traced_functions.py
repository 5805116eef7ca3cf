"""Traces of MLflow, Weave, Langfuse and Jaeger, in the forms that their sources state.

Each trace is of one question, whose retrieval gave the cart (.9) and the orders, with the edge between them in the
metadata of the first, and whose model answered.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphkit.readers.logged import LoggedAnswer, ReadOptions
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.recordings import BY_HAND, CART, GOLD, ORDERS, QUESTION, imported, record_of, scores, shop
from tests.plugins.logs.shared_logs import edges, names, read, survives

ANSWER = "It takes them from the orders."
START = 1_700_000_000_000_000_000  # in nanoseconds
SECOND = 1_000_000_000

#: What the retrieval gave, in the form of LangChain's documents, which MLflow has, too.
DOCUMENTS = [
    {"page_content": "the cart", "id": CART, "metadata": {"edges": GOLD[:1]}},
    {"page_content": "the orders", "id": ORDERS, "metadata": {}},
]
REPLY = {
    "choices": [{"message": {"role": "assistant", "content": ANSWER}}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 5},
    "model": "m",
}


def mlflow(*more: dict[str, Any], documents: Any = DOCUMENTS, error: str | None = None) -> list[Any]:
    """What ``Trace.to_json()`` writes, in the fourth schema of spans."""
    spans = [
        span("ask", None, "CHAIN", {"question": QUESTION}, ANSWER, end=3, error=error),
        span("retrieve", "ask", "RETRIEVER", {"query": QUESTION}, documents),
        span("chat", "ask", "CHAT_MODEL", {"model": "m", "messages": []}, REPLY),
        *more,
    ]
    info = {"trace_id": "tr-1", "state": "OK", "tags": {"mlflow.traceName": "ask", "question_id": "q1"}}
    return [{"info": info, "data": {"spans": spans}}]


def span(
    name: str, parent: str | None, kind: str, given: Any, gave: Any, end: int = 1, error: str | None = None
) -> dict[str, Any]:
    """A span of MLflow, whose attributes are JSON."""
    attributes = {"traceRequestId": "tr-1", "spanType": kind, "spanInputs": given, "spanOutputs": gave}
    if kind == "CHAT_MODEL":
        attributes["chat.tokenUsage"] = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    return {
        "trace_id": "tr-1",
        "otel_trace_id": "0x1",
        "span_id": name,
        "parent_span_id": parent,
        "name": name,
        "start_time_unix_nano": START,
        "end_time_unix_nano": START + end * SECOND,
        "status": {"code": "OK" if error is None else "ERROR", "message": error},
        "attributes": {f"mlflow.{key}": json.dumps(value) for key, value in attributes.items() if value is not None},
        "events": [],
        "mlflow_span_version": 4,
    }


def weave(*more: dict[str, Any], documents: Any = DOCUMENTS, error: str | None = None) -> list[Any]:
    """The calls of a trace, a line each; the retrieval is known by its documents, the model by its reply."""
    usage = {"m": {"requests": 1, "prompt_tokens": 100, "completion_tokens": 5}}
    return [
        call("chat", "ask", {"model": "m", "messages": []}, REPLY, usage=usage),
        call("retrieve", "ask", {"query": QUESTION}, documents),
        call("ask", None, {"self": "weave:///x", "question": QUESTION}, ANSWER, end=3, usage=usage, error=error),
        *more,
    ]


def call(
    name: str,
    parent: str | None,
    given: dict[str, Any],
    gave: Any,
    end: int = 1,
    error: str | None = None,
    usage: Any = None,
    kind: str | None = None,
) -> dict[str, Any]:
    """A call of Weave."""
    attributes: dict[str, Any] = {"question_id": "q1", "weave": {"client_version": "0.52"}}
    if kind is not None:
        attributes["weave"]["kind"] = kind
    return {
        "id": name,
        "project_id": "team/shop",
        "op_name": f"weave:///team/shop/op/{name}:abc123",
        "trace_id": "t",
        "parent_id": parent,
        "started_at": "2026-01-01T10:00:00Z",
        "ended_at": f"2026-01-01T10:00:0{end}Z",
        "exception": error,
        "attributes": attributes,
        "inputs": given,
        "output": gave,
        "summary": {"usage": usage or {}, "status_counts": {"success": 1}},
    }


def langfuse(*more: dict[str, Any], documents: Any = DOCUMENTS, error: str | None = None) -> list[Any]:
    """A trace with its observations; a generation gives a message, and its cached tokens stand beside the others."""
    used = {"input": 60, "input_cached_tokens": 40, "output": 5, "total": 105}
    said = {"role": "assistant", "content": ANSWER}
    trace: dict[str, Any] = {
        "id": "t",
        "timestamp": "2026-01-01T10:00:00.000Z",
        "name": "ask",
        "input": {"question": QUESTION},
        "output": ANSWER if error is None else None,
        "metadata": {"question_id": "q1"},
        "tags": [],
        "latency": 3.0,
        "totalCost": 0.01,
    }
    observations = [
        observation("chat", "GENERATION", [{"role": "user", "content": QUESTION}], said, model="m", usageDetails=used),
        observation("retrieve", "RETRIEVER", {"query": QUESTION}, documents),
        *more,
    ]
    if error is not None:
        observations.append(observation("answer", "SPAN", {}, None, level="ERROR", statusMessage=error))
    return [{**trace, "observations": observations}]


def observation(name: str, kind: str, given: Any, gave: Any, **more: Any) -> dict[str, Any]:
    """An observation of Langfuse."""
    times = {"startTime": "2026-01-01T10:00:00.000Z", "endTime": "2026-01-01T10:00:01.000Z"}
    held = {"id": name, "traceId": "t", "type": kind, "name": name, "input": given, "output": gave, "metadata": {}}
    return {**held, **times, "level": "DEFAULT", "parentObservationId": None, **more}


def jaeger(*more: dict[str, Any], documents: Any = DOCUMENTS, error: str | None = None) -> list[Any]:
    """What Jaeger's interface gives of a trace, with the attributes of OpenInference as tags."""
    found: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": QUESTION, "output.value": "[]"}
    for place, one in enumerate(documents):
        prefix = f"retrieval.documents.{place}.document"
        found |= {f"{prefix}.id": one["id"], f"{prefix}.content": one["page_content"]}
        found[f"{prefix}.metadata"] = json.dumps(one["metadata"])
    model = {"openinference.span.kind": "LLM", "llm.model_name": "m", "output.value": ANSWER}
    tokens = {"llm.token_count.prompt": 100, "llm.token_count.completion": 5}
    top = {"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": ANSWER}
    spans = [
        tagged("ask", None, {**top, "metadata": json.dumps({"question_id": "q1"})}, end=3, error=error),
        tagged("retrieve", "ask", found),
        tagged("chat", "ask", {**model, **tokens}),
        *more,
    ]
    return [{"data": [{"traceID": "1a2b", "spans": spans, "processes": {"p1": {"serviceName": "shop"}}}], "total": 0}]


def tagged(
    name: str, parent: str | None, attributes: dict[str, Any], end: int = 1, error: str | None = None
) -> dict[str, Any]:
    """A span of Jaeger."""
    kinds = {int: "int64", float: "float64", bool: "bool"}
    tags = [{"key": key, "type": kinds.get(type(one), "string"), "value": one} for key, one in attributes.items()]
    tags.append({"key": "span.kind", "type": "string", "value": "internal"})
    if error is not None:
        tags += [{"key": "error", "type": "bool", "value": True}]
        tags += [{"key": "otel.status_description", "type": "string", "value": error}]
    above = [{"refType": "CHILD_OF", "traceID": "1a2b", "spanID": parent}] if parent else []
    return {
        "traceID": "1a2b",
        "spanID": name,
        "operationName": name,
        "references": above,
        "startTime": START // 1000,
        "duration": end * SECOND // 1000,
        "tags": tags,
        "logs": [],
        "processID": "p1",
        "warnings": None,
    }


Trace = Callable[..., list[Any]]

FORMS: dict[str, Trace] = {"mlflow": mlflow, "weave": weave, "langfuse": langfuse, "openinference": jaeger}

each_form = pytest.mark.parametrize("name", FORMS)


def one(name: str, *more: dict[str, Any], unread: Counter[str] | None = None, **given: Any) -> LoggedAnswer:
    """Return the only answer of a trace."""
    (answer,) = read(name, FORMS[name](*more, **given), unread=unread)
    return answer


def tool(name: str, given: Any, gave: Any, error: str | None = None) -> dict[str, Any]:
    """A span or a call of a tool, in each form."""
    if name == "mlflow":
        return span("open_file", "ask", "TOOL", given, gave, error=error)
    if name == "weave":
        return call("open_file", "ask", given, gave, error=error, kind="tool")
    if name == "langfuse":
        level = {"level": "ERROR", "statusMessage": error} if error is not None else {}
        return observation("open_file", "TOOL", given, gave, **level)
    attributes = {"openinference.span.kind": "TOOL", "tool.name": "open_file", "input.value": json.dumps(given)}
    attributes |= {"output.value": gave if isinstance(gave, str) else json.dumps(gave)} if gave is not None else {}
    return tagged("open_file", "ask", attributes, error=error)


@each_form
def test_a_trace_scores_as_the_record_by_hand(name: str, tmp_path: Path) -> None:
    """The format is recognised, and the question by its id: the first of two gold edges is in a document's metadata."""
    data = shop(tmp_path)
    log = tmp_path / "log.jsonl"
    write_jsonl(log, FORMS[name]())
    imported(data, log, name)
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    record = record_of(data)
    assert (record["question_id"], record["answer"]) == ("q1", ANSWER)
    assert [found["id"] for found in record["retrieved"]] == [CART, ORDERS]


@each_form
def test_what_a_trace_logs(name: str) -> None:
    """The outermost span takes 3 s; the tokens are those of the model's span alone."""
    answer = one(name)
    assert (answer.question, answer.question_text, answer.answer) == ("q1", QUESTION, ANSWER)
    assert (answer.latency_ms, answer.model_calls, answer.model) == (3000.0, 1, "m")
    assert (answer.prompt_tokens, answer.output_tokens) == (100, 5)
    assert names(answer) == [CART, ORDERS]
    assert edges(answer) == [[(CART, "IMPORTS", ORDERS)]]
    assert answer.notes == []


@pytest.mark.parametrize(("name", "where"), [("mlflow", "inputs"), ("weave", "inputs"), ("langfuse", "input")])
def test_what_a_trace_was_given_beside_the_question_is_reported(name: str, where: str) -> None:
    """The messages that ask are read; the filter beside them isn't."""
    given = {"messages": [{"role": "user", "content": QUESTION}], "filter": "src"}
    log = FORMS[name]()
    if name == "mlflow":
        log[0]["data"]["spans"][0]["attributes"]["mlflow.spanInputs"] = json.dumps(given)
    elif name == "weave":
        log[2]["inputs"] = given
    else:
        log[0]["input"] = given
    unread = Counter[str]()
    (answer,) = read(name, log, unread=unread)
    assert (answer.question_text, unread) == (QUESTION, {f"{where}.filter": 1})


@each_form
def test_nothing_was_found(name: str) -> None:
    """An empty list of documents is a retrieval of nothing."""
    assert one(name, documents=[]).retrieved == []


@each_form
def test_a_tool_opens_what_it_is_given(name: str) -> None:
    """An error as its result, or its status, is a failure; an edge in a result is walked."""
    assert one(name, tool(name, {"path": "src/cart.py"}, "def take(): ...")).opened == ["src/cart.py"]
    for failed in (tool(name, {"path": "a.py"}, "Error: ENOENT"), tool(name, {"path": "a.py"}, None, "no such file")):
        answer = one(name, failed)
        assert (answer.opened, [call.failed for call in answer.tool_calls or ()]) == ([], [True])
    graph = {"edges": [{"source": CART, "relation": "IMPORTS", "target": ORDERS}]}
    ((edge,),) = one(name, tool(name, {"query": "q"}, graph)).shown
    assert (edge.source, edge.target) == (CART, ORDERS)


@each_form
def test_a_trace_failed(name: str) -> None:
    """The outermost span says so."""
    answer = one(name, error="ValueError: no model")
    assert answer.error == "ValueError: no model"


@each_form
def test_unknown_attributes_are_reported(name: str) -> None:
    """What isn't read is counted by its name."""
    values = FORMS[name]()
    if name == "mlflow":
        values[0]["data"]["spans"][1]["attributes"]["mlflow.hologram"] = '"x"'
    elif name == "weave":
        values[1]["hologram"] = "x"
    elif name == "langfuse":
        values[0]["observations"][1]["hologram"] = "x"
    else:
        values[0]["data"][0]["spans"][1]["tags"].append({"key": "hologram", "type": "string", "value": "x"})
    unread: Counter[str] = Counter()
    read(name, values, unread=unread)
    assert any("hologram" in field for field in unread), unread


@each_form
def test_a_trace_survives(name: str) -> None:
    """Whatever stands in its place."""
    for value in FORMS[name](documents=DOCUMENTS[:1]):
        survives(name, value)


# Each by itself ------------------------------------------------------------------------------------------------------


def test_older_spans_of_mlflow() -> None:
    """The second schema has a context, and the third ids in base64; rows of a search have the spans alone."""
    second, third = mlflow(), mlflow()
    for one_span in second[0]["data"]["spans"]:
        one_span["context"] = {"trace_id": "0x1", "span_id": one_span.pop("span_id")}
        one_span["parent_id"] = one_span.pop("parent_span_id")
        one_span["start_time"], one_span["end_time"] = (
            one_span.pop(f"{key}_time_unix_nano") for key in ("start", "end")
        )
        one_span["status_code"] = one_span.pop("status")["code"]
        del one_span["trace_id"]
    (answer,) = read("mlflow", second)
    assert (names(answer), answer.latency_ms) == ([CART, ORDERS], 3000.0)
    ids = {"ask": "AAAAAAAAAAE=", "retrieve": "AAAAAAAAAAI=", "chat": "AAAAAAAAAAM=", None: ""}
    for one_span in third[0]["data"]["spans"]:
        one_span["span_id"], one_span["parent_span_id"] = ids[one_span["span_id"]], ids[one_span["parent_span_id"]]
        one_span["trace_id"] = "AAAAAAAAAAAAAAAAAAAAAQ=="
        one_span["status"]["code"] = "STATUS_CODE_OK"
    (answer,) = read("mlflow", third)
    assert (names(answer), answer.question) == ([CART, ORDERS], "q1")
    row = {"trace_id": "tr-1", "tags": {"question_id": "q1"}, "spans": json.dumps(mlflow()[0]["data"]["spans"])}
    (answer,) = read("mlflow", [row])
    assert (answer.question, names(answer)) == ("q1", [CART, ORDERS])


def test_the_question_around_a_trace() -> None:
    """A user's own id beside the trace counts, and the key that the user names."""
    trace = mlflow()[0]
    trace["info"]["tags"] = {"ticket": "q7"}
    (answer,) = read("mlflow", [{"question_id": "q2", "trace": trace}])
    assert answer.question == "q2"
    (answer,) = read("mlflow", [trace], ReadOptions(question_key="ticket"))
    assert answer.question == "q7"


def test_functions_of_weave() -> None:
    """A stated kind counts first; a function for which a model asked is a tool; the output of others is unread."""
    asks = {"id": "c", "type": "function", "function": {"name": "open_file", "arguments": '{"path": "src/cart.py"}'}}
    reply = {**REPLY, "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [asks]}}]}
    lines = [
        call("chat1", "ask", {}, reply),
        call("open_file", "ask", {"path": "src/cart.py"}, "def"),
        call("look_up", "ask", {"q": QUESTION}, [{"id": ORDERS, "text": "the orders"}], kind="search"),
        call("rank_hits", "ask", {}, {"kept": 3}),
    ]
    unread: Counter[str] = Counter()
    answer = one("weave", *lines, documents=None, unread=unread)
    assert (answer.opened, names(answer)) == (["src/cart.py"], [ORDERS])
    assert unread["output of rank_hits"] == 1


def test_a_question_of_an_evaluation_of_weave() -> None:
    """Its example names it."""
    lines = weave()
    for line in lines:
        line["attributes"] = {}
    lines[2]["inputs"]["example"] = {"question_id": "q3", "gold": ["a"]}
    (answer,) = read("weave", lines)
    assert answer.question == "q3"


def test_observations_of_langfuse_by_themselves() -> None:
    """A row each, with inputs and outputs as JSON in texts: the trace isn't there, and so neither is its time."""
    rows = langfuse()[0]["observations"]
    for row in rows:
        row["input"], row["output"] = json.dumps(row["input"]), json.dumps(row["output"])
    rows[0]["metadata"] = {"question_id": "q1"}
    (answer,) = read("langfuse", rows)
    assert (answer.question, names(answer), answer.answer) == ("q1", [CART, ORDERS], ANSWER)


def test_a_ranking_keeps_its_places() -> None:
    """A score may be a distance: Langfuse's, MLflow's and Weave's documents rank as the function returned them."""
    scored = [{**DOCUMENTS[0], "score": 0.1}, {**DOCUMENTS[1], "score": 0.9}]
    assert names(one("langfuse", documents=scored)) == [CART, ORDERS]


def test_a_trace_of_jaeger_by_itself() -> None:
    """As its page exports one, with times in microseconds."""
    (answer,) = read("openinference", jaeger()[0]["data"])
    assert (answer.question, answer.latency_ms) == ("q1", 3000.0)


def test_tags_of_opentelemetry() -> None:
    """GenAI's conventions are read in Jaeger's form, too."""
    documents = json.dumps([{"id": "src/cart.py", "score": 0.9}])
    spans = [
        tagged("search", None, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}),
        tagged("chat", "search", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}),
    ]
    (answer,) = read("otel", [{"traceID": "1a2b", "spans": spans, "processes": {}}])
    assert (names(answer), answer.model_calls) == (["src/cart.py"], 1)
