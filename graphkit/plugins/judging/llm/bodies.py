"""Unpacks the bodies of a server's replies, up to a limit, since a server may send without end; words their faults."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

from graphkit.files.intake import OPTION, are_lifted
from graphkit.files.json_stream import fault

#: The longest unpacked reply, in bytes; the results of a batch contain many replies.
LONGEST_REPLY = 16 << 20
LONGEST_RESULTS = 4 << 30

#: How many bytes to unpack at once.
_PIECE = 1 << 16

#: The only encoding that the client requests and unpacks: others turn a few bytes into gigabytes at once.
ENCODING = "gzip"


#: What Python's decoder misses, in plain words.
_MISSING = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Extra data": "more text follows",
    "Invalid control character": "a text holds a line break or another control character",
    "Invalid \\escape": "a backslash is followed by a character that it can't escape",
    "Invalid \\uXXXX escape": "four hexadecimal digits are missing after \\u",
    "Illegal trailing comma before end of object": "a comma stands before the end of an object",
    "Illegal trailing comma before end of array": "a comma stands before the end of a list",
}


def json_fault(error: ValueError | RecursionError) -> str:
    """Return why a reply can't be decoded as JSON, without quoting it.

    >>> try: json.loads('{"grade": ')
    ... except ValueError as error: json_fault(error)
    'it ends too early'
    """
    if isinstance(error, UnicodeError):
        return "it isn't UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits"
    if not error.doc.strip():
        return "it is empty"
    if not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated"):
        return "it ends too early"
    if not error.doc[: error.pos].strip():
        return "it doesn't begin with a JSON value"
    what, place = fault(error)
    return f"{_MISSING.get(what, what)} at character {place + 1}"


class ReplyTooLongError(Exception):
    """A server sent more than any reply has."""


async def bound(response: Any) -> None:
    """Replace the body of a response, before it is read, by a stream that ends at the limit."""
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    limit = LONGEST_RESULTS if response.request.url.path.endswith("/results") else LONGEST_REPLY
    if packed not in ("identity", "", ENCODING):
        raise ReplyTooLongError(f"it is packed by {packed[:20]!r}, and {ENCODING} was asked for")
    if packed == ENCODING:
        del response.headers["content-encoding"]
    response.stream = _bounded(response.stream, limit, unpack=packed == ENCODING)


def _bounded(stream: Any, limit: int, unpack: bool) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in _unpacked(stream) if unpack else stream:
                size += len(piece)
                if size > limit and not are_lifted():
                    raise ReplyTooLongError(f"it is longer than {limit >> 20} MiB; {OPTION} takes it")
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


async def _unpacked(stream: Any) -> AsyncIterator[bytes]:
    """Unpack a gzip body in small pieces."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        async for packed in stream:
            rest = packed
            while rest:
                yield unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
                if unpacker.eof:
                    return
        yield unpacker.flush()
    except zlib.error:
        raise ReplyTooLongError("it can't be unpacked: it isn't whole gzip") from None
