"""Scores as events of OpenTelemetry: ``gen_ai.evaluation.result``, by the conventions for generative AI.

Each is a log record in an export of logs (OTLP JSON), beside the span of its answer. A score without a value has an
``error.type`` and no ``gen_ai.evaluation.score.value``, which never is 0 then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphkit.graph.writing import batched
from graphkit.plugins.exports.exported_run import ExportedRun, ExportedScore, unscored_as

EVENT = "gen_ai.evaluation.result"

#: Events of one export, which is a line.
_BATCH = 500

#: The lengths of the ids of traces and spans, in hex.
_TRACE, _SPAN = 32, 16


def exports_of_events(exported: ExportedRun, at: int, version: str) -> Iterator[dict[str, Any]]:
    """Yield exports of logs with the event of each score.

    Parameters
    ----------
    at
        The time of the events, in nanoseconds since 1970.
    version
        The version of graphkit.
    """
    resource = {"attributes": _attributes({"service.name": "graphkit", "service.version": version})}
    for some in batched(exported.scores, _BATCH):
        logs = {"scope": {"name": "graphkit", "version": version}, "logRecords": [_event(one, at) for one in some]}
        yield {"resourceLogs": [{"resource": resource, "scopeLogs": [logs]}]}


def _event(one: ExportedScore, at: int) -> dict[str, Any]:
    score, ids = one.score, one.ids
    attributes = {
        "gen_ai.evaluation.name": score.measure,
        "gen_ai.evaluation.score.value": score.number,
        "gen_ai.evaluation.score.label": one.label,
        "gen_ai.evaluation.explanation": one.explanation,
        "gen_ai.response.id": ids.response,
        "error.type": unscored_as(score),
        "graphkit.run": score.run,
        "graphkit.question": score.question,
        "graphkit.grader": score.grader,
        "graphkit.gold_hash": score.gold_hash,
        "graphkit.computed": score.computed,
    }
    event: dict[str, Any] = {"timeUnixNano": str(at), "observedTimeUnixNano": str(at), "eventName": EVENT}
    event["attributes"] = _attributes(attributes)
    if _is_hex(ids.trace, _TRACE) and _is_hex(ids.span, _SPAN):
        event |= {"traceId": ids.trace, "spanId": ids.span}
    return event


def _is_hex(text: str | None, length: int) -> bool:
    """Return whether a text is an id of OpenTelemetry's; those of other traces are left out."""
    return text is not None and len(text) == length and re.fullmatch("[0-9a-fA-F]+", text) is not None


def _attributes(given: Mapping[str, str | float | None]) -> list[dict[str, Any]]:
    """Return attributes in the form of OTLP, without those that have no value."""
    return [
        {"key": name, "value": {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}}
        for name, value in given.items()
        if value is not None
    ]
