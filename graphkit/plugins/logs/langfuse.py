"""Traces of Langfuse with their observations, and observations alone, as its interface and its pages export them.

Source: langfuse/langfuse, ``fern/apis/server/definition/commons.yml`` (``Trace``, ``TraceWithFullDetails``,
``Observation``). The observations are read as OpenInference's spans; a trace is the span around them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.openinference import ASKED
from graphkit.plugins.logs.payloads import count_unread, each_unwrapped, holds, json_within, nothing_known, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.traced_functions import (
    KINDS,
    LACKS,
    OTHER,
    TracedFunctionConventions,
    count_around,
    kind_of,
    observed,
    replied,
)
from graphkit.plugins.logs.traces import read_traces
from graphkit.readers.json_values import number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values
from graphkit.records.words import shortened

#: The types of observations; those of a function whose kind isn't said come last.
_TYPES = (*KINDS, "GENERATION", "CHAIN", "EVALUATOR", "GUARDRAIL", "EVENT", "SPAN")

#: The keys that are read, or that say nothing of a question.
_TRACE = (
    *("id", "timestamp", "name", "input", "output", "sessionId", "release", "version", "userId", "metadata", "tags"),
    *("public", "environment", "htmlPath", "latency", "totalCost", "observations", "projectId", "createdAt"),
    *("updatedAt", "bookmarked", "externalId", "_deprecation"),
)
_OBSERVATION = (
    *("id", "traceId", "type", "name", "startTime", "endTime", "completionStartTime", "model", "modelParameters"),
    *("input", "output", "version", "metadata", "usage", "usageDetails", "costDetails", "level", "statusMessage"),
    *("parentObservationId", "promptId", "promptName", "promptVersion", "environment", "modelId", "internalModelId"),
    *("inputPrice", "outputPrice", "totalPrice", "calculatedInputCost", "calculatedOutputCost", "latency"),
    *("calculatedTotalCost", "timeToFirstToken", "projectId", "createdAt", "updatedAt", "unit", "promptTokens"),
    *("completionTokens", "totalTokens", "isRootObservation", "bookmarked", "public", "userId", "sessionId"),
    *("traceName", "tags", "release", "providedModelName", "inputUsage", "outputUsage", "totalUsage", "totalCost"),
)


class LangfuseReader(Reader):
    """Reads traces, or observations of which those of one trace may lie anywhere in a file."""

    name = "langfuse"
    priority = 114
    title = "Langfuse: traces with their observations, and observations alone"
    lacks = (
        *LACKS,
        "A span's function is known if a model asked for it, if it returned a model's reply or documents, or if its "
        "name says that it searches.",
        "A question's id is read from the metadata of a trace or an observation; else it is known by its text.",
    )

    def recognises(self, value: Any) -> bool:
        return holds(value, _is_payload)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        found: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = []
        for where, value in values:
            for one in each_unwrapped(value, _is_payload, ReadOptions(), where):
                if one.payload is None:
                    raise nothing_known(value, where)
                unread.update(one.rest)
                trace = one.payload if _is_trace(one.payload) else {}
                observations = objects_of(trace["observations"]) if trace else [one.payload]
                around = {"question_id": one.question} if one.question not in (None, one.payload.get("id")) else {}
                found.append((one.answer.where or where, {**trace, "around": around}, observations))
        every = [one for _, _, observations in found for one in observations]
        asked = {call.name for one in every for call in replied(json_within(one.get("output")))[1]}
        for _, trace, own in found:
            count_around(json_within(trace.get("input")), options, unread, "input.", *ASKED)
            for held in (trace, *own):
                count_around(json_within(held.get("metadata")), options, unread, "metadata.")
        spans = ((where, _spans(trace, own, asked, options, unread)) for where, trace, own in found)
        return read_traces(spans, options, unread, TracedFunctionConventions())


def _is_payload(value: Any) -> bool:
    return _is_trace(value) or _is_observation(value)


def _is_trace(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return False
    given = value.get("observations")
    return isinstance(given, list) and bool(given) and all(map(_is_observation, given[:5]))


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in _TYPES or not isinstance(value.get("startTime"), str):
        return False
    return isinstance(value.get("id"), str) and isinstance(value.get("traceId"), str)


def _spans(
    trace: dict[str, Any],
    observations: list[dict[str, Any]],
    asked: set[Any],
    options: ReadOptions,
    unread: Counter[str],
) -> list[dict[str, Any]]:
    """Return the spans of a trace, and the trace as the span around them."""
    around, own = trace["around"], trace.get("id")
    top = f"trace {own}" if own is not None else None
    spans = [_span(one, top, asked, options, unread) for one in observations]
    if top is None:
        spans[0]["attributes"]["metadata"] = {**around, **spans[0]["attributes"]["metadata"]}
        return spans
    count_unread(trace, (*_TRACE, "around"), unread)
    begun, took = trace.get("timestamp"), number(trace.get("latency"))
    start = microseconds_of(begun)
    ends = [end for one in observations if (end := microseconds_of(one.get("endTime"))) is not None]
    last = max(ends, default=None) if took is None else None if start is None else start + round(took * 1e6)
    failed = [one["status"] for one in spans if one["parent_id"] == top and one["status"]["code"] == "ERROR"]
    answered = trace.get("output") not in (None, "")
    return [
        {
            "name": trace.get("name"),
            "trace_id": own,
            "span_id": top,
            "start_time_unix_nano": None if start is None else start * 1000,
            "end_time_unix_nano": None if last is None else last * 1000,
            "status": failed[-1] if failed and not answered else {"code": "OK"},
            "attributes": {
                **observed(OTHER, None, json_within(trace.get("input")), json_within(trace.get("output"))),
                "metadata": {**around, **object_of(json_within(trace.get("metadata")))},
            },
        },
        *spans,
    ]


def _span(
    one: dict[str, Any], top: str | None, asked: set[Any], options: ReadOptions, unread: Counter[str]
) -> dict[str, Any]:
    """Return an observation as a span."""
    count_unread(one, _OBSERVATION, unread, "observations.")
    name, stated = text(one.get("name")) or "unnamed", text(one.get("type"))
    given, gave = json_within(one.get("input")), json_within(one.get("output"))
    kind = "LLM" if stated == "GENERATION" else stated if stated in KINDS else OTHER
    if stated == "SPAN":
        kind = kind_of(name, gave, asked)
        if kind == OTHER and isinstance(gave, list | dict) and gave and one.get("parentObservationId"):
            unread[f"output of {shortened(name)}"] += 1
    attributes = observed(kind, name, given, gave)
    if kind == "LLM":
        used, costs = (object_of(one.get(key)) for key in ("usageDetails", "costDetails"))
        used = used or object_of(one.get("usage"))
        attributes |= {
            "llm.model_name": one.get("model") or one.get("providedModelName"),
            "llm.token_count.prompt": _count(used, "input"),
            "llm.token_count.completion": _count(used, "output"),
            "llm.cost.total": costs.get("total", one.get("calculatedTotalCost")),
        }
    elif kind in (OTHER, "AGENT") and not one.get("parentObservationId"):
        count_around(given, options, unread, "observations.input.", *ASKED)
    failed = one.get("level") == "ERROR"
    return {
        "name": name,
        "trace_id": one.get("traceId"),
        "span_id": one.get("id"),
        "parent_id": one.get("parentObservationId") or top,
        "start_time": one.get("startTime"),
        "end_time": one.get("endTime"),
        "status": {"code": "ERROR" if failed else "OK", "message": one.get("statusMessage")},
        "attributes": {**attributes, "metadata": object_of(json_within(one.get("metadata")))},
    }


def _count(used: dict[str, Any], part: str) -> int | None:
    """Return the tokens of all kinds of a part, such as ``input`` and ``input_cached_tokens``, added up."""
    counts = [count for kind, given in used.items() if part in kind and (count := whole(given)) is not None]
    return sum(counts) if counts else None
