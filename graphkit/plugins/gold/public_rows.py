"""The rows of a public data set: JSON, JSON Lines, Parquet, or lines of text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.json_stream import json_documents
from graphkit.files.jsonl import first_block, open_binary, read_block, read_lines
from graphkit.files.parquet import parquet_rows
from graphkit.files.problems import Problem, Problems
from graphkit.plugins.gold.answer_graphs import AnswerGraph, Edge
from graphkit.records.json_once import each_key_once
from graphkit.records.words import shortened

#: The field of a row that is a line of text.
LINE = "line"

#: The fields of a row with its triples, and with the entities that the question names.
GRAPH, TOPICS = "graph", "q_entity"

#: The fields with a row's id for messages.
_IDS = ("id", "_id", "qid", "ID", "QuestionId", "instance_id", "question_id")


class UnusableRowError(InputError):
    """A row that can't become a question."""


class GoldRow:
    """A row with its fields, the names of used fields, and notes about doubts.

    Parameters
    ----------
    where
        ``file:line``.
    stem
        The name of the file up to its first dot.
    number
        The number of the line or the row.
    suffix
        The suffix for the question's id, if an earlier row has the same id.
    """

    #: The graphs of the import by the ids of questions.
    graphs: Callable[[str | None], AnswerGraph | None] | None = None

    def __init__(self, where: str, stem: str, number: int, fields: dict[str, Any], suffix: str = "") -> None:
        self.where = where
        self.stem = stem
        self.number = number
        self.suffix = suffix
        #: Sentences that are reported once, with the number of their rows.
        self.notes: list[str] = []
        self._fields = fields
        self._asked: set[str] = set()

    @property
    def key(self) -> str | None:
        """The id of the row."""
        return next((str(self._fields[key]) for key in _IDS if self._fields.get(key) is not None), None)

    @property
    def record(self) -> str | None:
        """The id of the row for messages."""
        return shortened(self.key) if self.key is not None else None

    def renamed(self, suffix: str) -> GoldRow:
        """Return the row with a suffix for the question's id."""
        row = GoldRow(self.where, self.stem, self.number, self._fields, suffix)
        row.graphs = self.graphs
        return row

    def digest(self) -> bytes:
        """Return a hash of the row's content."""
        return hashlib.sha256(json.dumps(self._fields, sort_keys=True, default=str).encode()).digest()

    def names(self) -> list[str]:
        """Return the names of the fields."""
        return list(self._fields)

    def unused(self) -> list[str]:
        """Return the names of fields with a value that weren't used."""
        return [name for name, value in self._fields.items() if name not in self._asked and value not in (None, "", [])]

    def get(self, *names: str) -> Any:
        """Return the value of the first of some fields that isn't null, or None."""
        self._asked.update(names)
        return next((self._fields[name] for name in names if self._fields.get(name) is not None), None)

    def text(self, *names: str) -> str:
        """Return a required text.

        Raise UnusableRowError if the text is missing or empty, or isn't a string.
        """
        value = self.get(*names)
        if value is None:
            raise UnusableRowError(f"the field {names[0]!r} is missing")
        if not isinstance(value, str) or not value.strip():
            raise UnusableRowError(f"the field {names[0]!r} must be a string that isn't empty")
        return value

    def optional_text(self, *names: str) -> str | None:
        """Return a text, or None if it is missing."""
        return self.text(*names) if self.get(*names) not in (None, "") else None

    def texts(self, name: str) -> list[str]:
        """Return the texts of a list, or none if it is missing.

        Raise UnusableRowError if the value isn't a list of texts.
        """
        value = self.get(name) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise UnusableRowError(f"the field {name!r} must be a list of texts")
        return value

    def triples(self) -> list[Edge]:
        """Return the triples of the row's own graph; one with an empty part leads nowhere, and is left out.

        Raise UnusableRowError if they can't be read.
        """
        given = self.table(GRAPH, ("head", "relation", "tail"))
        return [
            (one[0], one[1].strip(), one[2]) for one in given if all(isinstance(part, str) and part for part in one)
        ]

    def graph(self) -> AnswerGraph | None:
        """Return the graph of the question: the row's own, else that of the import; None if there is neither.

        Raise what :meth:`triples` and :meth:`texts` raise.
        """
        if self.get(GRAPH) is not None:
            return AnswerGraph(self.triples(), self.texts(TOPICS))
        return self.graphs(self.key) if self.graphs is not None else None

    def name(self, *names: str) -> str:
        """Return the id of the question, which may be an integer. Raises the errors of :meth:`text`."""
        value = self.get(*names)
        name = str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(*names)
        return name + self.suffix

    def table(self, name: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the records in a field as :func:`table` does, or none if it is missing."""
        value = self.get(name)
        return [] if value is None else table(value, name, columns)


def table(value: Any, name: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return records as tuples of the columns' values.

    A table is a list of lists, a list of objects, an object of lists, or a string with one of them as JSON.

    Raise UnusableRowError if the value isn't a table, or a record lacks a column.
    """
    value = decoded(value, name)
    if isinstance(value, dict) and all(isinstance(value.get(column), list) for column in columns):
        if len({len(value[column]) for column in columns}) != 1:
            raise UnusableRowError(f"the lists of {name!r} aren't of one length")
        return list(zip(*(value[column] for column in columns), strict=True))
    if not isinstance(value, list):
        raise UnusableRowError(f"the field {name!r} must be a list")
    return [_cells(name, number, item, columns) for number, item in enumerate(value, 1)]


def _cells(name: str, number: int, item: Any, columns: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(item, dict) and all(column in item for column in columns):
        return tuple(item[column] for column in columns)
    if isinstance(item, list | tuple) and len(item) == len(columns):
        return tuple(item)
    raise UnusableRowError(f"item {number} of {name!r} must be [{', '.join(columns)}], or an object with these")


def triples(table: Iterable[tuple[Any, ...]], name: str) -> list[tuple[str, str, str]]:
    """Return the rows of a table as triples of strings.

    Raise UnusableRowError if a row holds another value or an empty string.
    """
    found = []
    for number, row in enumerate(table, 1):
        if not all(isinstance(text, str) and text.strip() for text in row):
            raise UnusableRowError(f"item {number} of {name!r} must be three strings that aren't empty")
        found.append((row[0], row[1], row[2]))
    return found


def decoded(value: Any, name: str) -> Any:
    """Decode the JSON in a string, and return other values unchanged.

    Raise UnusableRowError if the string isn't JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise UnusableRowError(f"the field {name!r} must be a list, or a string with one as JSON") from None


def read_rows(path: Path, lines: bool, problems: Problems, member: str | None = None) -> Iterator[GoldRow]:
    """Yield the rows of a file; those that aren't JSON objects are added to the problems.

    Raise InputError if the file can't be read at all, or is cut short.

    With ``lines``, each line of text is a row with the one field ``line``. With ``member``, a file may be one object,
    whose field of this name lists the rows.
    """
    stem = path.name.partition(".")[0]
    if path.suffix == ".parquet":
        for number, fields in enumerate(parquet_rows(path), 1):
            yield GoldRow(f"{path}:row {number}", stem, number, fields)
        return
    if lines:
        for number, line in read_lines(path):
            where = f"{path}:{number}"
            try:
                yield GoldRow(where, stem, number, {LINE: line.decode().rstrip("\r")})
            except UnicodeDecodeError as error:
                what = f"not UTF-8: {error.reason} at byte {error.start}"
                problems.add(Problem(where, what, remedy="Save the file as UTF-8."))
        return
    if member is not None or _is_list(path):
        for place, (where, value) in enumerate(_members(path, member), 1):
            if (row := _row(where, stem, place, value, problems)) is not None:
                yield row
        return
    for number, text in read_lines(path):
        try:
            value = json.loads(text.decode(), object_pairs_hook=each_key_once)
        except (ValueError, RecursionError) as error:
            what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            remedy = "Each row must be one JSON object."
            problems.add(Problem(f"{path}:{number}", f"not valid JSON: {what}", remedy=remedy))
            continue
        if (row := _row(f"{path}:{number}", stem, number, value, problems)) is not None:
            yield row


def _members(path: Path, member: str | None) -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of each row; the rows of an object that lists them are its ``member``."""
    for where, value in json_documents(path):
        if member is not None and isinstance(value, dict) and isinstance(value.get(member), list):
            yield from ((f"{where} ({member}, item {number})", one) for number, one in enumerate(value[member], 1))
        else:
            yield where, value


def _row(where: str, stem: str, number: int, fields: Any, problems: Problems) -> GoldRow | None:
    if isinstance(fields, dict):
        return GoldRow(where, stem, number, fields)
    problems.add(Problem(where, "a row must be a JSON object"))
    return None


def _is_list(path: Path) -> bool:
    """Return whether a file is one list rather than JSON Lines."""
    for block in raw_blocks(path):
        if text := block.lstrip():
            return text.startswith(b"[")
    return False


def raw_blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file without a byte order mark, in blocks.

    Raises
    ------
    InputError
        The file is missing, a directory, empty, binary or damaged.
    """
    with open_binary(path) as stream:
        _, block = first_block(stream, path)
        while block:
            yield block
            block = read_block(stream, path, 0)
