"""JSON documents and arrays of any layout, read as streams with one value in memory at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from graphkit.errors import InputError
from graphkit.files.jsonl import first_block, open_binary, read_block
from graphkit.records.json_once import RepeatedKeyError, each_key_once

#: The longest accepted JSON document or item of an array, in characters: all of it is in memory.
LONGEST = 256 * 1024 * 1024

_SPACE = re.compile(r"[ \t\n\r]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_DECODER = json.JSONDecoder(object_pairs_hook=each_key_once)


def json_documents(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (``file:line``, value) of each JSON document of a file, and the items of an array in its place.

    An array whose first item isn't an object is one value. The place of an item includes its number.

    Raises
    ------
    InputError
        A part isn't JSON, or isn't UTF-8; the file is missing, empty, binary or damaged.
    """
    with open_binary(path) as stream:
        text = _Text(stream, path)
        while character := text.next():
            line = text.line
            if character != "[":
                yield f"{path}:{line}", text.value()
                continue
            text.skip()
            yield from _items(path, text, line)


def whole_characters(value: Any) -> Any:
    """Return a value with ``?`` for each half of a character, which nothing can store."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-8", "replace"))
    return value


def mistake(error: Exception) -> str:
    """Return a description of a mistake in JSON."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, RepeatedKeyError):
        return str(error)
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits"
    what, _ = fault(error)
    python = error.doc[error.pos : error.pos + 1] == "'" or error.doc.startswith(("None", "True", "False"), error.pos)
    return f"{what} (this is how Python prints an object: write it by json.dumps)" if python else what


def fault(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return what is wrong and where, in the same words under every Python: 3.13 began to name a comma before an end.

    >>> fault(json.JSONDecodeError("Expecting value", "[1, ]", 4))
    ('Illegal trailing comma before end of array', 2)
    >>> fault(json.JSONDecodeError("Unterminated string starting at", '{"a', 1))
    ('Unterminated string starting', 1)
    """
    before, ending = error.doc[: error.pos].rstrip(" \t\n\r"), error.doc[error.pos : error.pos + 1]
    if before.endswith(",") and ending in ("}", "]"):
        kind = "object" if ending == "}" else "array"
        return f"Illegal trailing comma before end of {kind}", len(before) - 1
    return error.msg.removesuffix(" at"), error.pos


def refused(path: Path, line: int, what: str) -> InputError:
    """Return the refusal of content that isn't JSON, or isn't text."""
    remedy = "It must be JSON Lines, JSON documents or a JSON array; correct or remove what isn't."
    return InputError(what, where=f"{path}:{line}", remedy=remedy)


class _Text:
    """The characters of a file from the current position, with at least those of the value that begins there."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.path = path
        self.line = 1
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = self._decoded(first_block(stream, path)[1])
        self._at = 0
        self._ended = False

    def _decoded(self, block: bytes) -> str:
        try:
            return self._decode(block, not block)
        except UnicodeDecodeError:
            raise refused(self.path, self.line, "the file isn't UTF-8") from None

    def _more(self) -> bool:
        """Read as many characters again as are unused, so that a long value is examined only a few times."""
        wanted, parts = max(1 << 16, len(self._text) - self._at), [self._text[self._at :]]
        self._at = 0
        while wanted > 0 and not self._ended:
            block = read_block(self._stream, self.path, self.line - 1)
            self._ended = not block
            parts.append(self._decoded(block))
            wanted -= len(parts[-1])
        self._text = "".join(parts)
        return len(parts) > 1

    def next(self) -> str:
        """Return the next character that isn't white space, without consuming it; an empty text at the end."""
        while True:
            end = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            self._go(end)
            if end < len(self._text):
                return self._text[end]
            if self._ended or not self._more():
                return ""

    def skip(self) -> None:
        """Consume one character."""
        self._at += 1

    def value(self) -> Any:
        """Return the value that begins here, and consume it."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RepeatedKeyError as error:
                raise refused(self.path, self.line, str(error)) from None
            except (ValueError, RecursionError) as error:
                digits = not isinstance(error, json.JSONDecodeError)
                if not digits and not self._ended and len(self._text) - self._at <= LONGEST:
                    self._more()
                    continue
                place = self.line
                if isinstance(error, json.JSONDecodeError):
                    place += self._text.count("\n", self._at, fault(error)[1])
                raise refused(self.path, place, f"this isn't JSON: {mistake(error)}") from None
            if end == len(self._text) and not self._ended and self._more():  # a number may continue
                continue
            halves = _HALF.search(self._text, self._at, end)
            self._go(end)
            return whole_characters(value) if halves else value

    def _go(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end


def _items(path: Path, text: _Text, line: int) -> Iterator[tuple[str, Any]]:
    """Yield the items of an array whose first is an object, else the array as one value."""
    held: list[Any] = []
    number = 0
    single = text.next() not in ("{", "]")
    while (character := text.next()) != "]":
        number += 1
        if number > 1:
            if character != ",":
                what = "the array has no end" if not character else "this isn't JSON: a comma is missing in the array"
                raise refused(path, text.line, what)
            text.skip()
            text.next()
        elif not character:
            raise refused(path, text.line, "the array has no end")
        at = text.line
        value = text.value()
        if single:
            held.append(value)
        else:
            yield f"{path}:{at} (item {number})", value
    text.skip()
    if single:
        yield f"{path}:{line}", held
