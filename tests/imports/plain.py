"""Readers for the tests of how logs become runs: of JSON as plain as can be, and of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint
from typing import Any

from graphkit.plugins.logs.payloads import count_unread, each_unwrapped, holds, json_within
from graphkit.readers.known_formats import GROUP
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, Reader, ReadOptions


class PlainReader(Reader):
    """Reads ``{"found": [name, ...], "edges": [[source, relation, target], ...], "paths": ..., "opened": ...}``.

    ``edges`` is a set, ``pairs`` one without direction, and ``paths`` are ordered.
    """

    name = "plain"
    priority = 1
    title = "Plain: found, edges and paths"
    lacks = ("Scores aren't logged.",)

    def recognises(self, value: Any) -> bool:
        """Tell it by what was found."""
        return holds(value, _is_payload)

    def read(
        self, values: Iterable[tuple[str, Any]], options: ReadOptions, unread: Counter[str]
    ) -> Iterator[LoggedAnswer]:
        """Yield what was logged."""
        for where, value in values:
            (wrapped,) = each_unwrapped(value, _is_payload, options, where)
            answer = wrapped.logged(unread)
            payload = wrapped.payload or {}
            used = ("found", "edges", "pairs", "paths", "opened", "note", "calls", "commit", "cites", "run", "json")
            count_unread(payload, {*used, *wrapped.names}, unread)
            if "found" in payload:
                answer.retrieved = [LoggedChunk(name, commit=payload.get("commit")) for name in payload["found"]]
            for key in ("edges", "pairs"):
                if key in payload:
                    directed = key == "edges"
                    answer.traversal = [[LoggedEdge(edge[0], edge[1], edge[2], directed) for edge in payload[key]]]
            if "paths" in payload:
                answer.traversal = [[LoggedEdge(*edge) for edge in path] for path in payload["paths"]]
                answer.ordered = True
            answer.opened = payload.get("opened")
            answer.notes += payload.get("note", [])
            answer.model_calls = payload.get("calls")
            if "json" in payload:
                answer.answer = json_within(payload["json"])["text"]
            answer.run = payload.get("run")
            answer.citations = payload.get("cites")
            yield answer


class PlainLines(Reader):
    """Reads ``question name`` a line."""

    name = "plain-lines"
    priority = 0
    title = "Plain lines"
    lines = True

    def recognises(self, value: Any) -> bool:
        """Tell a line by its two words."""
        return len(value.split()) == 2

    def read(
        self, values: Iterable[tuple[str, Any]], options: ReadOptions, unread: Counter[str]
    ) -> Iterator[LoggedAnswer]:
        """Yield an answer a line."""
        for where, line in values:
            if not self.recognises(line):
                unread["line"] += 1
                continue
            question, name = line.split()
            yield LoggedAnswer(where, question, retrieved=[LoggedChunk(name)])


def _is_payload(value: dict[str, Any]) -> bool:
    return bool(value.keys() & {"found", "edges", "pairs", "paths", "opened"})


PLAIN = EntryPoint("plain", "tests.imports.plain:PlainReader", GROUP)
PLAIN_LINES = EntryPoint("plain-lines", "tests.imports.plain:PlainLines", GROUP)
