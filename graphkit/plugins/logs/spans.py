"""Spans in the forms in which they are written, brought into one.

The forms are the SDK's own (``ReadableSpan.to_json()``), that of Phoenix (nested, or a row of its table), OTLP JSON
with ids in hex or in base64, in camel case or in snake case, and that of Jaeger's pages and interface (as
jaegertracing/jaeger-ui has it in ``types/trace.ts``). Of a span only those attributes are kept that its reader uses.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.payloads import (
    QUESTION_IDS,
    at,
    each_unwrapped,
    holds,
    json_within,
    nothing_known,
    objects_of,
    plain_key,
)
from graphkit.plugins.logs.times import microseconds_of
from graphkit.readers.accounting import EMPTY_VALUES
from graphkit.readers.json_values import identifier, object_of, whole
from graphkit.readers.logged import ReadOptions, UnreadableLogError
from graphkit.records.words import shortened

#: The SDKs' default limit of a span's attributes, and how to change it.
SDK_LIMIT = 128
MORE_ATTRIBUTES = "Set OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000 (or more) where the system runs, and trace it again."

#: How deep attributes may lie in each other.
DEPTH = 32

#: Values with their own form, which aren't split.
_WHOLE = frozenset(
    ("metadata", "gen_ai.retrieval.documents", "gen_ai.input.messages", "gen_ai.output.messages", "tag.tags")
)

#: The keys around the attributes of a span, in any form, which say nothing of a question by themselves.
_ENVELOPE = frozenset(
    (
        *("name", "context", "context.traceid", "context.spanid", "context.tracestate", "traceid", "spanid", "id"),
        *("kind", "spankind", "parentid", "parentspanid", "tracestate", "flags", "starttime", "endtime"),
        *("starttimeunixnano", "endtimeunixnano", "status", "statuscode", "statusmessage", "attributes", "links"),
        *("droppedattributescount", "droppedattributes", "events", "droppedeventscount", "droppedevents"),
        *("droppedlinkscount", "droppedlinks", "resource", "scope", "instrumentationscope"),
    )
)

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
#: The spans of a trace of Jaeger, which has a ``traceID``, and the tags in which OpenTelemetry's status stands.
_JAEGER = "spans"
_STATUS_TAGS = ("otel.status_code", "otel.status_description", "error", "span.kind", "internal.span.format")
_NUMBERED = re.compile(r"\.\d+(?=\.|$)")
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{16}|[0-9a-fA-F]{32})")


@dataclass(slots=True)
class ToolUse:
    """One call of a tool, which a model asked for, or which ran."""

    name: str | None
    arguments: Any = None
    call: str | None = None
    result: Any = None
    failed: bool = False


@dataclass(slots=True)
class Operation:
    """The operation of a span: it called a ``model``, made a ``retrieval``, or ran a ``tool``; else the kind is empty.

    ``tools`` holds the tool that ran, or those that the model asked for; ``response`` is the id of a model's response,
    and ``cut`` says whether it ended at its limit of tokens.
    """

    kind: str = ""
    model: str | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    tools: list[ToolUse] = field(default_factory=list)
    response: str | None = None
    cut: bool = False


@dataclass(slots=True)
class Span:
    """A span, whatever form it had.

    Attributes
    ----------
    where
        ``file:line`` and its id.
    start, end
        In microseconds: of finer times the SDK's own JSON has nothing.
    attributes
        Those that the reader uses, by their dotted names.
    logged, dropped
        How many attributes were written, and how many the log says were lost.
    question, taken
        The question's id at this span, and its place.
    operation
        The operation, by the conventions of its attributes.
    """

    where: str
    trace: str
    id: str
    parent: str | None
    name: str
    start: int | None
    end: int | None
    failed: bool
    error: str | None
    error_type: str | None
    attributes: dict[str, Any]
    logged: int
    dropped: int
    events: list[tuple[str, dict[str, Any]]]
    question: str | None = None
    taken: str | None = None
    operation: Operation = field(default_factory=Operation)

    def numbered(self, prefix: str) -> dict[int, dict[str, Any]]:
        """Return the attributes ``prefix.N.rest`` by their number."""
        return numbered(self.attributes, prefix)


def numbered(attributes: dict[str, Any], prefix: str) -> dict[int, dict[str, Any]]:
    """Return those named ``prefix.N.rest`` by their number."""
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    for name, value in attributes.items():
        if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] == ".":
            number, _, rest = name[len(prefix) + 1 :].partition(".")
            if number.isdecimal() and len(number) < 10:
                found[int(number)][rest] = value
    return dict(found)


def nested(flat: dict[str, Any], prefix: str) -> Any:
    """Return the value of a name, also if it was split into dotted names, as Phoenix does with metadata.

    >>> nested({"m.file": "a", "m.edges.0.to": "b", "m.edges.1.to": "c"}, "m")
    {'file': 'a', 'edges': [{'to': 'b'}, {'to': 'c'}]}
    """
    if prefix in flat:
        return flat[prefix]
    found: dict[str, Any] = {}
    for name, value in flat.items():
        if name.startswith(f"{prefix}."):
            inner = found
            *way, last = name[len(prefix) + 1 :].split(".", DEPTH)
            for part in way:
                below = inner.setdefault(part, {})
                if not isinstance(below, dict):
                    break
                inner = below
            else:
                inner[last] = value
    return _listed(found) if found else None


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and list(value) == [str(number) for number in range(len(value))]:
        return [_listed(one) for one in value.values()]
    return {name: _listed(one) for name, one in value.items()}


def holds_spans(value: Any, test: Callable[[dict[str, Any]], bool]) -> bool:
    """Return whether a value holds a span whose attributes pass a test; ``span_kind`` counts as an attribute."""
    if isinstance(value, dict) and _is_span(value):
        return test(_some_attributes(value))
    if not holds(value, _is_payload, lists=True):
        return False
    counted: Counter[str] = Counter()
    payloads = (wrapped.payload for wrapped in each_unwrapped(value, _is_payload, ReadOptions(), lists=True))
    return any(test(_some_attributes(raw)) for payload in payloads for raw in _raw_spans(payload, "", counted))


def span_ids(export: Any) -> list[tuple[str, bool]]:
    """Return of each span of an OTLP export its trace's id, and whether it is the outermost of it.

    Raises
    ------
    UnreadableLogError
        It isn't one, or a span in it couldn't be read.
    """
    if not isinstance(export, dict) or not any(isinstance(export.get(key), list) for key in _RESOURCES):
        raise UnreadableLogError("it isn't an export of spans: it has no list of resourceSpans")
    reading = SpanReading(ReadOptions(), Counter(), ())
    return [(span.trace, span.parent is None) for span in reading.spans("the export", export)]


class SpanReading:
    """Brings the spans of a file into one form."""

    def __init__(self, options: ReadOptions, unread: Counter[str], used: tuple[str, ...]) -> None:
        self._options = options
        self._unread = unread
        key = () if options.question_key is None else (options.question_key,)
        self._used = (*used, "metadata", "session.id", "error.type", *key)
        self._roles: dict[str, int] = {}

    def spans(self, where: str, value: Any) -> Iterator[Span]:
        """Yield the spans of a value of a file."""
        if _is_payload(value):
            yield from self._payload(where, value, None, None)
            return
        plain = ReadOptions()  # the user's key is looked up in the spans, too
        for wrapped in each_unwrapped(value, _is_payload, plain, where, lists=True):
            if wrapped.payload is None:  # a question's id alone, of which spans say nothing
                raise nothing_known(value, wrapped.answer.where or where)
            self._unread.update(wrapped.rest)
            question, taken = wrapped.question, wrapped.answer.taken.get("question id")
            key = self._options.question_key
            if key is not None:
                question, taken = identifier(at(value, key)), key
            yield from self._payload(wrapped.answer.where or where, wrapped.payload, question, taken)

    def _payload(self, where: str, payload: Any, question: str | None, taken: str | None) -> Iterator[Span]:
        for raw in _raw_spans(payload, where, self._unread):
            span = self._span(where, raw)
            if question is not None:
                span.question, span.taken = question, taken
            yield span

    def _span(self, where: str, raw: dict[str, Any]) -> Span:
        trace, own = _ids(raw)
        if trace is None or own is None:
            raise UnreadableLogError(
                "a span has no trace id or no span id",
                where=where,
                remedy="Write spans whole, by to_json() of the SDK, as OTLP JSON, or as Phoenix exports them.",
            )
        where = f"{where}, span {own}"
        attributes: dict[str, Any] = {}
        logged = 0
        for name, value in self._flat("", _attributes(raw, where), 0, where):
            logged += 1
            if value is not _UNREAD:
                attributes[name] = value
        kind = raw.get("span_kind")
        if isinstance(kind, str) and kind:
            attributes.setdefault("openinference.span.kind", kind)
        for name, value in raw.items():
            if plain_key(name) not in _ENVELOPE and not name.startswith("attributes.") and value not in EMPTY_VALUES:
                self._unread[shortened(name)] += 1
        held = {plain_key(name): value for name, value in raw.items() if value}
        if raw.get("links"):
            self._unread["links"] += 1
        events = list(_events(raw, where))
        failed, error, error_type = _failure(raw, attributes, events)
        span = Span(
            where,
            trace,
            own,
            _id(held.get("parentid") or held.get("parentspanid")),
            shortened(str(raw.get("name") or "")),
            _time(held, "starttimeunixnano", "starttime"),
            _time(held, "endtimeunixnano", "endtime"),
            failed,
            error,
            error_type,
            attributes,
            logged,
            whole(held.get("droppedattributescount", held.get("droppedattributes"))) or 0,
            events,
        )
        self._ask(span, raw)
        return span

    def _ask(self, span: Span, raw: dict[str, Any]) -> None:
        """Note the question's id at a span."""
        key = self._options.question_key
        metadata = json_within(span.attributes.get("metadata"))
        if key is not None:
            below = key.removeprefix("metadata.")
            candidates = [(key, span.attributes.get(key)), (f"metadata.{below}", at(metadata, below))]
            candidates.append((key, at(raw, key)))
        else:
            candidates = []
            if isinstance(metadata, dict):
                candidates = [(f"metadata.{name}", value) for name, value in metadata.items() if _names_question(name)]
            candidates += [(name, value) for name, value in span.attributes.items() if _names_question(name)]
            candidates += [(name, value) for name, value in raw.items() if _names_question(name)]
        for taken, value in candidates:
            question = identifier(value)
            if question is not None:
                span.question, span.taken = question, taken
                return

    def _flat(self, prefix: str, value: Any, depth: int, where: str) -> Iterator[tuple[str, Any]]:
        """Yield the attributes below a name by their dotted names, those that nobody uses with no value."""
        if value is None:
            return
        inner: Iterable[tuple[str, Any]]
        if prefix in _WHOLE or prefix.endswith(".metadata"):
            inner = ()
        elif isinstance(value, dict):
            inner = value.items()
        elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
            inner = ((str(number), one) for number, one in enumerate(value))
        else:
            inner = ()
        if inner == ():
            if self._role(prefix) == _USED:
                yield prefix, value
            else:
                self._unread[f"attributes.{shortened(_NUMBERED.sub('.N', prefix))}"] += 1
                yield prefix, _UNREAD
            return
        if prefix and self._role(prefix) == _NOTHING:
            self._unread[f"attributes.{shortened(_NUMBERED.sub('.N', prefix))}"] += 1
            yield prefix, _UNREAD
            return
        if depth > DEPTH:
            raise UnreadableLogError(
                f"the attribute {shortened(prefix)!r} is nested more than {DEPTH} deep",
                where=where,
                remedy="Spans have flat attributes; remove this one.",
            )
        for name, one in inner:
            yield from self._flat(f"{prefix}.{name}" if prefix else str(name), one, depth + 1, where)

    def _role(self, name: str) -> int:
        """Return the use of a name by the reader: used, above something used, or unused."""
        role = self._roles.get(name)
        if role is None:
            if _names_question(name) or any(name == one or name.startswith(f"{one}.") for one in self._used):
                role = _USED
            else:
                above = len(name) <= 100 and any(one.startswith(f"{name}.") for one in self._used)
                role = _ABOVE if above else _NOTHING
            if len(self._roles) < 10_000 and len(name) <= 200:
                self._roles[name] = role
        return role


_UNREAD = object()
_USED, _ABOVE, _NOTHING = range(3)


def _names_question(name: str) -> bool:
    """Return whether the last part of a dotted name is commonly that of a question's id."""
    if name[-2:].lower() != "id" or len(name) > 100:
        return False
    parts = name.lower().replace("_", "").replace("-", "").rsplit(".", 2)
    return parts[-1] in QUESTION_IDS or "".join(parts[-2:]) in QUESTION_IDS


def _is_span(value: dict[str, Any]) -> bool:
    return None not in _ids(value)


def _is_payload(value: Any) -> bool:
    """Return whether a value holds spans and nothing of the user's: an export, a span, or a list of spans."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and _is_span(value[0])
    lists = (*_RESOURCES, *([_JAEGER] if isinstance(value, dict) and "traceID" in value else []))
    return isinstance(value, dict) and (_is_span(value) or any(isinstance(value.get(key), list) for key in lists))


def _ids(value: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the ids of the trace and of the span."""
    context = value.get("context")
    inner = object_of(context)
    trace = value.get("traceId") or value.get("trace_id") or inner.get("trace_id") or value.get("context.trace_id")
    span = value.get("spanId") or value.get("span_id") or inner.get("span_id") or value.get("context.span_id")
    return _id(trace), _id(span)


def _id(value: Any) -> str | None:
    """Return an id in lower-case hex, from hex with or without 0x or from base64; another as it is, and 0 as None."""
    if not isinstance(value, str) or not value or len(value) > 200:
        return None
    if found := _HEX.fullmatch(value):
        text = found[1].lower()
    else:
        text = value
        if len(value) in (12, 24):  # 8 or 16 bytes
            try:
                text = base64.b64decode(value, validate=True).hex()
            except (binascii.Error, ValueError):
                text = value
    return text if text.strip("0") else None


def _raw_spans(payload: Any, where: str, unread: Counter[str]) -> Iterator[dict[str, Any]]:
    """Yield the spans of a payload as they were written."""
    if isinstance(payload, list):
        yield from _objects(payload, where, "a list of spans")
        return
    key = next((key for key in _RESOURCES if key in payload), None)
    if key is None and "traceID" in payload and _JAEGER in payload:
        yield from map(_of_jaeger, objects_of(payload[_JAEGER]))
        return
    if key is None:
        yield payload
        return
    for resource in _objects(payload[key], where, key):
        for name in _SCOPES:
            for scope in _objects(resource.get(name), where, name):
                yield from _objects(scope.get("spans"), where, "spans")
    unread.update(shortened(name) for name in payload if name != key)


def _of_jaeger(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a span of Jaeger, whose attributes are tags and whose times are microseconds, as the SDK has it."""
    tags = _tagged(raw.get("tags"))
    references = [one for one in objects_of(raw.get("references")) if one.get("refType") == "CHILD_OF"]
    failed = tags.get("otel.status_code") == "ERROR" or tags.get("error") in (True, "true")
    start, took = whole(raw.get("startTime")), whole(raw.get("duration"))
    logs = [_tagged(one.get("fields")) for one in objects_of(raw.get("logs"))]
    return {
        "name": raw.get("operationName"),
        "trace_id": raw.get("traceID"),
        "span_id": raw.get("spanID"),
        "parent_id": references[0].get("spanID") if references else raw.get("parentSpanID"),
        "start_time_unix_nano": None if start is None else start * 1000,
        "end_time_unix_nano": None if start is None or took is None else (start + took) * 1000,
        "attributes": {name: value for name, value in tags.items() if name not in _STATUS_TAGS},
        "status": {"code": "ERROR" if failed else "OK", "message": tags.get("otel.status_description")},
        "events": [{"name": fields.get("event"), "attributes": fields} for fields in logs],
        "warnings": raw.get("warnings"),
    }


def _tagged(tags: Any) -> dict[str, Any]:
    return {one["key"]: one.get("value") for one in objects_of(tags) if isinstance(one.get("key"), str)}


def _objects(value: Any, where: str, what: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UnreadableLogError(f"{what} isn't a list of objects", where=where, remedy="Export the spans anew.")
    return value


def _some_attributes(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span as a test of its format needs them: outer names, values as they are."""
    attributes = _attributes(raw, "")
    kind = raw.get("span_kind")
    return {"openinference.span.kind": kind, **attributes} if isinstance(kind, str) else attributes


def _attributes(raw: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the attributes of a span, an event or a link, from each form that they have."""
    given = raw.get("attributes")
    if isinstance(given, list):
        return _otlp_attributes(given, where)
    attributes = dict(given) if isinstance(given, dict) else {}
    for name, value in raw.items():
        if name.startswith("attributes."):
            attributes[name.removeprefix("attributes.")] = value
    return attributes


def _otlp_attributes(given: Any, where: str, depth: int = 0) -> dict[str, Any]:
    pairs = _objects(given, where, "attributes")
    return {str(pair.get("key")): _otlp_value(pair.get("value"), where, depth) for pair in pairs}


def _otlp_value(value: Any, where: str, depth: int) -> Any:
    """Return a value from OTLP's ``{"stringValue": ...}``."""
    if not isinstance(value, dict):
        return None
    if depth > DEPTH:
        raise UnreadableLogError(
            f"an attribute is nested more than {DEPTH} deep", where=where, remedy="Spans have flat attributes."
        )
    for name, inner in value.items():
        if inner is None:  # of the kinds that it isn't, as Phoenix writes them
            continue
        match name.replace("_", "").lower():
            case "stringvalue" | "boolvalue" | "bytesvalue":
                return inner
            case "intvalue":
                return int(inner) if isinstance(inner, str) and re.fullmatch(r"-?\d{1,20}", inner) else inner
            case "doublevalue":
                return inner
            case "arrayvalue":
                inner = inner.get("values") if isinstance(inner, dict) else None
                return [_otlp_value(one, where, depth + 1) for one in _objects(inner, where, name)]
            case "kvlistvalue":
                inner = inner.get("values") if isinstance(inner, dict) else None
                return _otlp_attributes(inner, where, depth + 1)
    return None


def _events(raw: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    events = raw.get("events")
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict):
            yield shortened(str(event.get("name") or "")), _attributes(event, where)


def _failure(
    raw: dict[str, Any], attributes: dict[str, Any], events: list[tuple[str, dict[str, Any]]]
) -> tuple[bool, str | None, str | None]:
    """Return whether a span failed, and with which message and type."""
    status = raw.get("status")
    held = object_of(status)
    code = held.get("status_code") or held.get("statusCode") or held.get("code") or raw.get("status_code")
    if str(code).upper().removeprefix("STATUS_CODE_").removeprefix("STATUSCODE.") not in ("ERROR", "2"):
        return False, None, None
    thrown: dict[str, Any] = next((given for name, given in reversed(events) if name == "exception"), {})
    message = held.get("description") or held.get("message") or raw.get("status_message")
    message = message or thrown.get("exception.message") or at(thrown, "exception.message")
    kind = thrown.get("exception.type") or at(thrown, "exception.type") or attributes.get("error.type")
    return (
        True,
        message if isinstance(message, str) else f"the span {shortened(str(raw.get('name')))} failed",
        kind if isinstance(kind, str) else None,
    )


def _time(held: dict[str, Any], *names: str) -> int | None:
    """Return the first of some times, in microseconds; a name such as ``startTimeUnixNano`` states its unit."""
    units = ((name, 1e9 if name.replace("_", "").lower().endswith("unixnano") else None) for name in names)
    times = (microseconds_of(held.get(name), unit) for name, unit in units)
    return next((time for time in times if time is not None), None)
