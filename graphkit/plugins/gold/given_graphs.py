"""The graphs in a file that an import is given."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from graphkit.errors import InputError
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.plugins.gold.answer_graphs import AnswerGraph, Edge
from graphkit.plugins.gold.public_rows import GRAPH, LINE, TOPICS, GoldRow, UnusableRowError, read_rows
from graphkit.records.aliases import EDGE


class GivenGraphs:
    """The graphs of a file: one that is of all questions, or one in each row, by the row's id.

    Graphs of single questions wait in a temporary file.

    Raises
    ------
    InputError
        The file can't be read, or a row is neither an edge nor holds a graph.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._file = stack.enter_context(tempfile.TemporaryFile(prefix="graphkit-"))
            problems = Problems()
            rows = read_rows(self._path, _is_text(self._path), problems)
            self._whole = AnswerGraph(edge for row in rows for edge in self._edge(row))
            problems.raise_if_refused()
            self._closing = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.close()

    def _edge(self, row: GoldRow) -> Iterator[Edge]:
        """Yield the edge of a row; keep the graph of a question."""
        try:
            if (line := row.get(LINE)) is not None:
                yield _of_line(str(line))
            elif row.get(GRAPH) is None:
                yield row.text("source"), row.text("relation", *EDGE["relation"]), row.text("target")
            elif row.key is None:
                raise UnusableRowError("the row has a graph, but no id")
            else:
                written = msgspec.json.encode([row.triples(), row.texts(TOPICS)])
                self._places[row.key] = self._file.seek(0, 2), len(written)
                self._file.write(written)
        except UnusableRowError as error:
            remedy = (
                "Each row is an edge (source, relation, target, as JSON or with tabs or | between), or has the id of a "
                "question and its 'graph'."
            )
            raise InputError(error.what, where=row.where, remedy=remedy) from None

    def of(self, question: str | None) -> AnswerGraph | None:
        """Return the graph of a question; None if the file has graphs of single questions, and not of this one."""
        if not self._places:
            return self._whole
        if question not in self._places:
            return None
        place, size = self._places[question]
        self._file.seek(place)
        edges, topics = msgspec.json.decode(self._file.read(size))
        return AnswerGraph(map(tuple, edges), topics)


def _is_text(path: Path) -> bool:
    """Return whether a file has lines of text, such as MetaQA's ``kb.txt``, rather than JSON or Parquet."""
    if path.suffix == ".parquet":
        return False
    return next((line[:1] not in (b"{", b"[") for _, line in read_lines(path)), False)


def _of_line(line: str) -> Edge:
    """Return the edge of a line. Raise UnusableRowError if it hasn't three parts."""
    parts = line.split("\t" if "\t" in line else "|")
    if len(parts) != 3 or not all(map(str.strip, parts)):
        raise UnusableRowError(f"this is no edge: {line[:80]!r}")
    return parts[0].strip(), parts[1].strip(), parts[2].strip()
