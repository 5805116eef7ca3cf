"""Streams of the values in a log's files: JSON Lines, JSON documents, JSON arrays, rows of Parquet or lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.json_stream import LONGEST, json_documents, mistake, refused, whole_characters
from graphkit.files.jsonl import MAX_LINE, first_block, is_array, open_binary, read_block, read_lines, text_lines
from graphkit.files.parquet import parquet_rows
from graphkit.files.problems import Problem, Problems
from graphkit.readers.known_formats import unpacked
from graphkit.records.json_once import each_key_once, repeats_a_key

_JSON = msgspec.json.Decoder()


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip archive, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except OSError:
        return False


def is_json(path: Path) -> bool:
    """Return whether a file holds values rather than lines of text: JSON, an archive of it, or rows of Parquet."""
    if is_archive(path) or is_parquet(path):
        return True
    line = _beginning(path)[0].lstrip()
    return line[:1] == b"{" or (line[:1] == b"[" and not _is_bracketed(line))


def _is_bracketed(line: bytes) -> bool:
    """Return whether a line begins with a word, a time or a number in brackets, as lines of text do, and no array."""
    inside = line[1:].lstrip()[:1]
    if inside in (b"", b"{", b"[", b'"', b"]"):
        return False
    text = line.decode("utf-8", "replace")
    try:
        json.JSONDecoder().raw_decode(text)
    except RecursionError:
        return False
    except ValueError as error:
        return getattr(error, "pos", len(text)) < len(text.rstrip())  # not for lack of what follows
    return bool(text[text.find("]") + 1 :].strip(" \t\r\n,"))


def is_parquet(path: Path) -> bool:
    """Return whether a file holds rows of Parquet, by its ending."""
    return path.suffix.lower() == ".parquet"


def values_of(path: Path, problems: Problems | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (``file:line``, value) for each JSON value of a file, or each row of Parquet.

    A file is JSON Lines, or one or several documents in any layout. If the file is an array of objects, its items are
    the values, each with its number in its place. Only one value is in memory at once. An archive contains the
    documents that a reader finds in it.

    Parameters
    ----------
    problems
        Collects the lines of JSON Lines that aren't JSON, if it skips problems.

    Raises
    ------
    InputError
        A value isn't JSON; the file is missing, empty, binary or damaged.
    """
    if is_archive(path):
        return iter(unpacked(path))
    if is_parquet(path):
        return ((f"{path}:row {number}", _plain(row)) for number, row in enumerate(parquet_rows(path), 1))
    return _lines(path, problems) if is_lines(path) else json_documents(path)


def _plain(cell: Any) -> Any:
    """Return a cell of Parquet as a value of JSON; a field of null is one that isn't there."""
    if isinstance(cell, dict):
        return {str(name): _plain(one) for name, one in cell.items() if one is not None}
    if isinstance(cell, list | tuple):
        return [_plain(one) for one in cell]
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    if isinstance(cell, Decimal):
        return float(cell)
    return cell if isinstance(cell, str | int | float | None) else str(cell)


def is_document(path: Path) -> bool:
    """Return whether a file is one JSON document in several lines, and neither lines of JSON nor an array."""
    if not is_json(path) or is_archive(path) or is_parquet(path) or is_array(path) or is_lines(path):
        return False
    try:
        return len(list(islice(json_documents(path), 2))) == 1
    except InputError:  # lines, of which the first isn't JSON
        return False


def text_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (``file:line``, line) for each line that isn't blank.

    Raises
    ------
    InputError
        A line isn't UTF-8; the file is missing, empty, binary or damaged.
    """
    for number, line in text_lines(path):
        try:
            yield f"{path}:{number}", line.decode().rstrip("\r")
        except UnicodeDecodeError as error:
            raise refused(path, number, f"the line isn't UTF-8 at byte {error.start + 1}") from None


def whole_text(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the text of a file with its first line as its place, for formats without lines.

    Raises
    ------
    InputError
        The text isn't UTF-8 or is too long; the file is missing, empty, binary or damaged.
    """
    with open_binary(path) as stream:
        _, block = first_block(stream, path)
        text = bytearray()
        while block:
            text += block
            if len(text) > LONGEST:
                raise refused(path, 1, f"the text is longer than {LONGEST >> 20} MiB")
            block = read_block(stream, path, 0)
    try:
        yield f"{path}:1", text.decode()
    except UnicodeDecodeError as error:
        raise refused(path, text[: error.start].count(b"\n") + 1, "the file isn't UTF-8") from None


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Return the first line that isn't blank, or the beginning of a long one, and whether another line follows."""
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


def is_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines, whose first line is a value, rather than a document or an array."""
    line, more = _beginning(path)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        # A damaged line, or the beginning of a document. Reading the file reports an error.
        return False
    return more or isinstance(value, dict)


def _lines(path: Path, problems: Problems | None) -> Iterator[tuple[str, Any]]:
    for number, line in read_lines(path):
        try:
            value = _JSON.decode(line)
            twice = repeats_a_key(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            twice = True
        if twice:
            try:
                value = _leniently(path, number, line)
            except InputError as error:
                if problems is None:
                    raise
                if problems.on_error != "skip":
                    remedy = "Correct it, or leave out such lines with --on-error skip."
                    raise InputError(error.what, where=error.where, remedy=remedy) from None
                problems.add(Problem(f"{path}:{number}", error.what))
                continue
        yield f"{path}:{number}", value


def _leniently(path: Path, number: int, line: bytes) -> Any:
    """Return the value of a line in Python's JSON: with NaN, and with lone surrogates, which become ``?``."""
    try:
        value = json.loads(line, object_pairs_hook=each_key_once)
    except UnicodeDecodeError as error:
        raise refused(path, number, f"the line isn't UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise refused(path, number, f"the line isn't JSON: {mistake(error)}") from None
    return whole_characters(value)
