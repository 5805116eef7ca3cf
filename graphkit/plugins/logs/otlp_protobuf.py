"""OTLP's binary form of spans as its JSON form: the few messages of it, without a dependency on protobuf.

Unknown fields are skipped, as the format requires; malformed messages are errors.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

from graphkit.readers.logged import UnreadableLogError

#: How many messages one body may hold, and how deep: a few bytes are a message, and many become large.
MOST = 1_000_000
DEPTH = 100

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

#: The fields of each message by number: the name, and the message or the kind. A list is in brackets.
_MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "export": {1: ("resourceSpans", "[resource_spans]")},
    "resource_spans": {1: ("resource", "resource"), 2: ("scopeSpans", "[scope_spans]")},
    "resource": {1: ("attributes", "[pair]"), 2: ("droppedAttributesCount", "unsigned")},
    "scope_spans": {1: ("scope", "scope"), 2: ("spans", "[span]")},
    "scope": {1: ("name", "text"), 2: ("version", "text")},
    "span": {
        1: ("traceId", "hex"),
        2: ("spanId", "hex"),
        3: ("traceState", "text"),
        4: ("parentSpanId", "hex"),
        5: ("name", "text"),
        6: ("kind", "unsigned"),
        7: ("startTimeUnixNano", "fixed"),
        8: ("endTimeUnixNano", "fixed"),
        9: ("attributes", "[pair]"),
        10: ("droppedAttributesCount", "unsigned"),
        11: ("events", "[event]"),
        12: ("droppedEventsCount", "unsigned"),
        13: ("links", "[link]"),
        14: ("droppedLinksCount", "unsigned"),
        15: ("status", "status"),
    },
    "event": {
        1: ("timeUnixNano", "fixed"),
        2: ("name", "text"),
        3: ("attributes", "[pair]"),
        4: ("droppedAttributesCount", "unsigned"),
    },
    "link": {1: ("traceId", "hex"), 2: ("spanId", "hex"), 4: ("attributes", "[pair]")},
    "status": {2: ("message", "text"), 3: ("code", "unsigned")},
    "pair": {1: ("key", "text"), 2: ("value", "value")},
    "value": {
        1: ("stringValue", "text"),
        2: ("boolValue", "boolean"),
        3: ("intValue", "signed"),
        4: ("doubleValue", "double"),
        5: ("arrayValue", "values"),
        6: ("kvlistValue", "pairs"),
        7: ("bytesValue", "bytes"),
    },
    "values": {1: ("values", "[value]")},
    "pairs": {1: ("values", "[pair]")},
}

_WIRES = {"unsigned": _VARINT, "signed": _VARINT, "boolean": _VARINT, "fixed": _FIXED64, "double": _FIXED64}


def export_of(body: bytes) -> dict[str, Any]:
    """Return an ``ExportTraceServiceRequest`` as OTLP JSON.

    Raises
    ------
    UnreadableLogError
        It isn't one.
    """
    try:
        return _Body(body).message("export", 0, len(body), 0)
    except (_MalformedError, UnicodeDecodeError) as error:
        what = "a text isn't UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise UnreadableLogError(f"it isn't an export of spans in OTLP's binary form: {what}") from None


class _MalformedError(Exception):
    """Bytes that no message has."""


class _Body:
    """Reads messages from bytes, without copying their content."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._messages = 0

    def message(self, kind: str, at: int, end: int, depth: int) -> dict[str, Any]:
        self._messages += 1
        if self._messages > MOST or depth > DEPTH:
            raise _MalformedError(f"it holds more than {MOST:,} messages, or they are nested more than {DEPTH} deep")
        fields, read = _MESSAGES[kind], {}  # type: tuple[dict[int, tuple[str, str]], dict[str, Any]]
        while at < end:
            tag, at = self._varint(at, end)
            wire = tag & 7
            start = at
            if wire == _VARINT:
                number, at = self._varint(at, end)
            elif wire in (_FIXED64, _FIXED32):
                number, at = 0, at + (8 if wire == _FIXED64 else 4)
            elif wire == _LENGTH:
                length, start = self._varint(at, end)
                number, at = 0, start + length
            else:
                raise _MalformedError(f"byte {start} has no type of a field")
            if at > end:
                raise _MalformedError(f"the field at byte {start} is longer than what holds it")
            if tag >> 3 not in fields:
                continue
            name, inner = fields[tag >> 3]
            if wire != _WIRES.get(inner, _LENGTH):
                raise _MalformedError(f"{name} at byte {start} is of another type")
            if inner.startswith("["):
                read.setdefault(name, []).append(self.message(inner[1:-1], start, at, depth + 1))
            elif inner in _MESSAGES:
                read[name] = self.message(inner, start, at, depth + 1)
            else:
                read[name] = self._scalar(inner, number, start, at)
        return read

    def _scalar(self, kind: str, number: int, start: int, end: int) -> Any:
        match kind:
            case "text":
                return self._body[start:end].decode()
            case "hex":
                return self._body[start:end].hex()
            case "bytes":
                return base64.b64encode(self._body[start:end]).decode()
            case "fixed":
                return str(int.from_bytes(self._body[start:end], "little"))
            case "double":
                return struct.unpack("<d", self._body[start:end])[0]
            case "boolean":
                return number != 0
            case "signed":
                return str(number - (1 << 64) if number >= 1 << 63 else number)
        return number

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        number = 0
        for shift in range(0, 70, 7):
            if at >= end:
                raise _MalformedError("it ends within a number")
            byte = self._body[at]
            at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number & 0xFFFF_FFFF_FFFF_FFFF, at
        raise _MalformedError(f"the number before byte {at} is too long")
