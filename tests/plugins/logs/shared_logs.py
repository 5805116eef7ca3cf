"""The logs that real libraries wrote, in the team's data beside the checkout, and reading them and small ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphkit.plugins.logs.payloads import Wrapped, each_unwrapped
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError


def read(
    name: str, values: Iterable[Any], options: ReadOptions | None = None, unread: Counter[str] | None = None
) -> list[LoggedAnswer]:
    """Return what a reader reads of values, each in a line of ``log``; the reader has to recognise each."""
    reader, given = reader_of(name), list(values)
    assert all(map(reader.recognises, given))
    numbered = ((f"log:{number}", value) for number, value in enumerate(given, 1))
    return list(reader.read(numbered, options or ReadOptions(), Counter() if unread is None else unread))


def unwrapped(
    value: Any, is_payload: Callable[[Any], bool], options: ReadOptions, where: str = "", lists: bool = False
) -> Wrapped:
    """Return the one payload of a value."""
    (found,) = each_unwrapped(value, is_payload, options, where, lists)
    return found


def edges(answer: LoggedAnswer) -> list[list[tuple[str, str | None, str]]] | None:
    """Return the edges of each path that an answer walked; undirected ones have their names in brackets."""
    return None if answer.traversal is None else [[_edge(edge) for edge in path] for path in answer.traversal]


def _edge(edge: LoggedEdge) -> tuple[str, str | None, str]:
    shown = "{}" if edge.directed else "[{}]"
    return shown.format(edge.source), edge.relation, shown.format(edge.target)


def names(answer: LoggedAnswer) -> list[str] | None:
    """Return the names of what an answer retrieved."""
    return None if answer.retrieved is None else [chunk.name for chunk in answer.retrieved]


#: What stands where something else was meant.
ODD: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**400, "", "x", "\ud800", [], {}, [[]], [None], [1, 2, 3], [{}, "R", {}], {"id": {}}),
    *("<Record a=<Path", "<Record r=<Relationship nodes=(1, 2) type=3>>", "<Record r=<Relationship nodes=5>>"),
    *({"labels": [], "properties": 5}, {"segments": [1, {"start": 3}]}, {"lc": 1, "kwargs": 5}, {"content": None}),
    {"nodes": [1], "relationships": [2, {"type": 1, "start": {}, "end": None}]},
)


def spoiled(value: Any) -> Iterator[Any]:
    """Yield a value once for each place in it and each odd value, with that in that place."""
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        for key, part in inner:
            places.append((one, key))
            waiting.append(part)
    for holder, key in places:
        kept = holder[key]
        for odd in ODD:
            holder[key] = odd
            yield value
        holder[key] = kept


def survives(name: str, value: Any) -> int:
    """Read a value with each of its places spoiled, and return how many answers came of it.

    A reader refuses what it can't read, and gives texts and numbers where it reads anything.
    """
    reader, reported = reader_of(name), 0
    for one in spoiled(value):
        reader.recognises(one)
        try:
            answers = list(reader.read([("log:1", one)], ReadOptions(), Counter()))
        except UnreadableLogError:
            continue
        for answer in answers:
            reported += 1
            for chunk in answer.retrieved or ():
                assert isinstance(chunk.name, str), one
                assert isinstance(chunk.text, str | None), one
                assert isinstance(chunk.score, float | None), one
                assert isinstance(chunk.commit, str | None), one
            for edge in (edge for path in answer.traversal or () for edge in path):
                assert isinstance(edge.source, str), one
                assert isinstance(edge.relation, str | None), one
                assert isinstance(edge.target, str), one
            for text in (answer.question, answer.question_text, answer.answer, answer.error, answer.model):
                assert isinstance(text, str | None), one
    return reported
