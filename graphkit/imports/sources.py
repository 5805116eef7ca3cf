"""The values of a log's files: JSON Lines, JSON documents, JSON arrays or lines of text, read as streams."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from graphkit.files.archives import is_archive
from graphkit.files.jsonl import MAX_LINE, first_block, open_binary, read_block, read_lines
from graphkit.readers.logged import UnreadableLogError

#: The longest JSON document, or item of an array, that is read, in characters: all of it is held at once.
LONGEST = 256 * 1024 * 1024

_SPACE = re.compile(r"[ \t\n\r]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_JSON = msgspec.json.Decoder()
_LINES = json.JSONDecoder()


def is_json(path: Path) -> bool:
    """Tell whether a file begins as a JSON object or array does, or is an archive of such; else it is lines of text."""
    return is_archive(path) or _beginning(path)[0].lstrip()[:1] in (b"{", b"[")


def values_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (``file:line``, value) of each JSON value of a file.

    A file is JSON Lines, or one or several documents of any layout. Of an array that holds objects, and is all that the
    file holds, the items are the values; each is named by its number, too. Only one value is held at once. Of an
    archive they are the documents that :func:`graphkit.readers.inspect_logs.archived` finds in it.

    Raises
    ------
    UnreadableLogError
        Something isn't JSON.
    InputError
        The file is missing, empty, binary or damaged.
    """
    if is_archive(path):
        from graphkit.readers.inspect_logs import archived

        return archived(path)
    return _lines(path) if _is_lines(path) else _documents(path)


def text_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (``file:line``, line) of each line of text that isn't blank.

    Raises
    ------
    UnreadableLogError
        A line isn't UTF-8.
    InputError
        The file is missing, empty, binary or damaged.
    """
    for number, line in read_lines(path):
        try:
            yield f"{path}:{number}", line.decode().rstrip("\r")
        except UnicodeDecodeError as error:
            raise _refused(path, number, f"the line isn't UTF-8 at byte {error.start + 1}") from None


def whole_text(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the text of a file with its first line as its place, for what writes one text and no lines.

    Raises
    ------
    UnreadableLogError
        It isn't UTF-8, or too long.
    InputError
        The file is missing, empty, binary or damaged.
    """
    with open_binary(path) as stream:
        _, block = first_block(stream, path)
        text = bytearray()
        while block:
            text += block
            if len(text) > LONGEST:
                raise _refused(path, 1, f"the text is longer than {LONGEST >> 20} MiB")
            block = read_block(stream, path, 0)
    try:
        yield f"{path}:1", text.decode()
    except UnicodeDecodeError as error:
        raise _refused(path, text[: error.start].count(b"\n") + 1, "the file isn't UTF-8") from None


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Return the first line that isn't blank, or what begins one that is too long, and whether another line follows."""
    text = bytearray()
    with open_binary(path) as stream:
        _, block = first_block(stream, path)
        while block and len(text) <= MAX_LINE:
            text += block if text else block.lstrip()
            if b"\n" in block:
                line, _, rest = bytes(text).partition(b"\n")
                if rest.strip():
                    return line, True
            block = read_block(stream, path, 0)
    return bytes(text).partition(b"\n")[0], False


def _is_lines(path: Path) -> bool:
    """Tell JSON Lines, whose first line is a value, from documents and arrays in any other layout."""
    line, more = _beginning(path)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        # A damaged line, or the beginning of a document: the error of either is told when the file is read.
        return False
    return more or isinstance(value, dict)


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in read_lines(path):
        try:
            value = _JSON.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            value = _leniently(path, number, line)
        yield f"{path}:{number}", value


def _leniently(path: Path, number: int, line: bytes) -> Any:
    """Return the value of a line as Python writes JSON: with NaN, and with halves of characters, which become ``?``."""
    try:
        value = json.loads(line)
    except UnicodeDecodeError as error:
        raise _refused(path, number, f"the line isn't UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise _refused(path, number, f"the line isn't JSON: {_mistake(error)}") from None
    return _whole_characters(value)


def _whole_characters(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-8", "replace"))
    return value


def _mistake(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits"
    python = error.doc[error.pos : error.pos + 1] == "'" or error.doc.startswith(("None", "True", "False"), error.pos)
    return f"{error.msg} (this is how Python prints an object: write it by json.dumps)" if python else error.msg


def _refused(path: Path, line: int, what: str) -> UnreadableLogError:
    remedy = "A log is JSON Lines, JSON documents or a JSON array; correct or remove what isn't."
    return UnreadableLogError(what, where=f"{path}:{line}", remedy=remedy)


class _Text:
    """The characters of a file from where it was read to, and as many more as the value that begins there has."""

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
            raise _refused(self.path, self.line, "the file isn't UTF-8") from None

    def _more(self) -> bool:
        """Read as much again as isn't used yet, so that a long value is looked at only some times."""
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
        """Return the next character that isn't space, without going past it, or nothing at the end."""
        while True:
            end = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            self._go(end)
            if end < len(self._text):
                return self._text[end]
            if self._ended or not self._more():
                return ""

    def skip(self) -> None:
        """Go past one character."""
        self._at += 1

    def value(self) -> Any:
        """Return the value that begins here, and go past it."""
        while True:
            try:
                value, end = _LINES.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                digits = not isinstance(error, json.JSONDecodeError)
                if not digits and not self._ended and len(self._text) - self._at <= LONGEST:
                    self._more()
                    continue
                place = self.line
                if isinstance(error, json.JSONDecodeError):
                    place += self._text.count("\n", self._at, error.pos)
                raise _refused(self.path, place, f"this isn't JSON: {_mistake(error)}") from None
            if end == len(self._text) and not self._ended and self._more():  # a number may go on
                continue
            halves = _HALF.search(self._text, self._at, end)
            self._go(end)
            return _whole_characters(value) if halves else value

    def _go(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end


def _documents(path: Path) -> Iterator[tuple[str, Any]]:
    with open_binary(path) as stream:
        text = _Text(stream, path)
        while character := text.next():
            line = text.line
            if character != "[":
                yield f"{path}:{line}", text.value()
                continue
            text.skip()
            yield from _items(path, text, line)


def _items(path: Path, text: _Text, line: int) -> Iterator[tuple[str, Any]]:
    """Yield the items of an array where the first is an object, else the array as one value."""
    held: list[Any] = []
    number = 0
    single = text.next() not in ("{", "]")
    while (character := text.next()) != "]":
        number += 1
        if number > 1:
            if character != ",":
                what = "the array has no end" if not character else "this isn't JSON: a comma is missing in the array"
                raise _refused(path, text.line, what)
            text.skip()
            text.next()
        elif not character:
            raise _refused(path, text.line, "the array has no end")
        at = text.line
        value = text.value()
        if single:
            held.append(value)
        else:
            yield f"{path}:{at} (item {number})", value
    text.skip()
    if single:
        yield f"{path}:{line}", held
