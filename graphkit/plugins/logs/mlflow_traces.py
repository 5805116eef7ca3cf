"""Traces of MLflow: ``Trace.to_json()``, and the rows of ``mlflow.search_traces()``.

Source: mlflow/mlflow, ``mlflow/entities/trace.py``, ``mlflow/entities/span.py`` (its schemas 2 to 4),
``mlflow/entities/document.py`` and ``mlflow/tracing/constant.py``. Each attribute is written as JSON. The spans are
read as OpenInference's, which have the same kinds under other names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.openinference import ASKED
from graphkit.plugins.logs.payloads import each_unwrapped, holds, json_within, nothing_known, objects_of
from graphkit.plugins.logs.traced_functions import (
    KINDS,
    LACKS,
    OTHER,
    TracedFunctionConventions,
    count_around,
    json_within_text,
    observed,
)
from graphkit.plugins.logs.traces import read_traces
from graphkit.readers.json_values import object_of, text
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values

_OWN = "mlflow."
_BESIDE = ("traceRequestId", "experimentId", "spanFunctionName", "spanType", "spanInputs", "spanOutputs", "chat.tools")
_USED = ("chat.tokenUsage", "llm.cost", "llm.model")
_VERSIONS = ("otel_trace_id", "mlflow_span_version")


class MlflowReader(Reader):
    """Reads traces, one a value or several in a list."""

    name = "mlflow"
    priority = 115
    beside = (
        *("state", "request_preview", "response_preview", "trace_location", "execution_duration", "request_time"),
        *("client_request_id", "experiment_id", "timestamp_ms", "execution_time_ms"),
    )
    title = "MLflow: traces (Trace.to_json(), and rows of mlflow.search_traces())"
    lacks = (
        *LACKS,
        "A question's id is read from the tags and the metadata of a trace; else the question is known by its text.",
    )

    def recognises(self, value: Any) -> bool:
        return holds(value, _is_trace)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        return read_traces(_translated(values, options, unread), options, unread, TracedFunctionConventions())


def _spans_in(trace: dict[str, Any]) -> Any:
    """Return the spans of a trace, or of a row that has it as an object, as a text, or its spans alone."""
    held = object_of(json_within(trace.get("data"))) or trace
    return json_within(held.get("spans"))


def _is_trace(value: Any) -> bool:
    spans = _spans_in(value) if isinstance(value, dict) else None
    given = (
        object_of(spans[0].get("attributes"))
        if isinstance(spans, list) and spans and isinstance(spans[0], dict)
        else {}
    )
    return any(isinstance(name, str) and name.startswith(_OWN) for name in given)


def _translated(values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Yield the spans of each trace as OpenInference has them."""
    for where, value in values:
        for one in each_unwrapped(value, _is_trace, ReadOptions(), where):
            if one.payload is None:
                raise nothing_known(value, where)
            unread.update(one.rest)
            info = object_of(one.payload.get("info")) or one.payload
            if info.get("assessments"):
                unread["info.assessments"] += 1
            metadata, tags = info.get("trace_metadata", info.get("request_metadata")), info.get("tags")
            for place, held in (("metadata.", metadata), ("tags.", tags)):
                own = [name for name in object_of(held) if name.startswith(_OWN)]
                count_around(held, options, unread, place, *own)
            around = {
                **object_of(metadata),
                **object_of(tags),
                **({"question_id": one.question} if one.question is not None else {}),
            }
            spans = [_span(span) for span in objects_of(_spans_in(one.payload))]
            for span in spans:
                if not (span.get("parent_id") or span.get("parent_span_id")):
                    if span["attributes"]["openinference.span.kind"] in (OTHER, "AGENT"):
                        given = json_within(span["attributes"].get("input.value"))
                        count_around(given, options, unread, "inputs.", *ASKED)
                    named = object_of(json_within(span["attributes"].get("metadata")))
                    span["attributes"]["metadata"] = {**around, **named}
            yield one.answer.where or where, spans


def _span(raw: dict[str, Any]) -> dict[str, Any]:
    given = {name: json_within_text(value) for name, value in object_of(raw.get("attributes")).items()}
    own = {name.removeprefix(_OWN): value for name, value in given.items() if name.startswith(_OWN)}
    stated = "LLM" if own.get("spanType") == "CHAT_MODEL" else text(own.get("spanType"))
    kind = stated if stated in KINDS else OTHER
    kept = {name: value for name, value in given.items() if name.removeprefix(_OWN) not in (*_BESIDE, *_USED)}
    attributes = {**kept, **observed(kind, raw.get("name"), own.get("spanInputs"), own.get("spanOutputs"))}
    usage, cost = object_of(own.get("chat.tokenUsage")), object_of(own.get("llm.cost"))
    attributes |= {
        "llm.token_count.prompt": usage.get("input_tokens"),
        "llm.token_count.completion": usage.get("output_tokens"),
        "llm.cost.total": cost.get("total_cost"),
    }
    if (model := text(own.get("llm.model"))) is not None:
        attributes["llm.model_name"] = model
    return {**{key: value for key, value in raw.items() if key not in _VERSIONS}, "attributes": attributes}
