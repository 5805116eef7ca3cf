"""The events of LlamaIndex's instrumentation: query, retrieval and answer, each in its own event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.plugins.logs.times import milliseconds_between
from graphkit.readers.json_values import text
from graphkit.records.words import shortened

_RETRIEVED, _ANSWERED, _ASKED = "RetrievalEndEvent", "QueryEndEvent", "QueryStartEvent"

#: Events that repeat those above.
_REPEATED = ("RetrievalStartEvent", "SynthesizeStartEvent", "SynthesizeEndEvent", "GetResponseEndEvent")


def is_event(value: Any) -> bool:
    """Return whether a value is an event, by the keys that all events have."""
    return (
        isinstance(value, dict)
        and {"id_", "timestamp", "span_id"} <= value.keys()
        and isinstance(value.get("class_name"), str)
        and value["class_name"].endswith("Event")
    )


def without_events(values: Iterable[tuple[str, Any]], unread: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Yield values unchanged, and events combined into the value of each question.

    A retrieval waits for the answer of its question; retrievals for parts of it stay separate.
    """
    waiting: dict[str, tuple[str, dict[str, Any]]] = {}
    begun: dict[str, Any] = {}
    for where, value in values:
        if not is_event(value):
            yield where, value
            continue
        kind, asked = value["class_name"], _question(value)
        if kind == _ASKED:
            begun[str(value["span_id"])] = value["timestamp"]
        elif kind == _RETRIEVED and isinstance(value.get("nodes"), list):
            _, result = waiting.setdefault(asked, (where, {**_tags(value), "question": asked, "nodes": []}))
            result["nodes"] = [*result["nodes"], *value["nodes"]]
        elif kind == _ANSWERED:
            # Without a retrieval and its nodes, the retrieved items are unknown.
            unknown = {"question_id": asked, **_tags(value), "question": asked}
            _, result = waiting.pop(asked, (where, unknown))
            response = value.get("response")
            inner = response if isinstance(response, dict) else {"response": response}
            if isinstance(inner.get("source_nodes"), list):
                result["nodes"] = inner["source_nodes"]
            taken = milliseconds_between(begun.pop(str(value["span_id"]), None), value["timestamp"])
            yield where, {**result, "answer": text(inner.get("response")), "latency_ms": taken}
        elif kind not in _REPEATED:
            unread[f"events of the kind {shortened(kind)}"] += 1
    yield from waiting.values()


def _tags(event: dict[str, Any]) -> dict[str, Any]:
    """Return the ids that the user gave by ``instrument_tags``."""
    tags = event.get("tags")
    return {name: value for name, value in tags.items() if name[-2:].lower() == "id"} if isinstance(tags, dict) else {}


def _question(event: dict[str, Any]) -> str:
    given = event.get("query", event.get("str_or_query_bundle"))
    return text(given.get("query_str") if isinstance(given, dict) else given) or ""
