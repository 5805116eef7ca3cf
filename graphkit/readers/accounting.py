"""Accounts for the values of a log: which of their fields a reader took, and which nobody did.

A reader takes a field by its key. Going through all fields of an object takes them all: whoever does so counts those
that aren't read, or keeps the object as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any

from graphkit.readers.logged import LoggedAnswer, Reader
from graphkit.records.doubts import NOTHING, UNREAD_PARTS
from graphkit.records.words import shortened

_SEPARATORS = re.compile(r"[_\-\s]+")

#: Values that say nothing.
EMPTY_VALUES: tuple[Any, ...] = (None, "", [], {})

#: The depth to which the objects in a value are accounted for.
DEPTH = 40

#: The values that a reader may hold before those of which all is taken are dropped.
HELD = 100

#: The keys that say nothing of a question in any format, without case, ``_`` and ``-``: ids, kinds and times of the
#: parts of a log. What kind a part is, its other fields tell: they aren't taken where it isn't known.
_BESIDE = frozenset(
    (
        *("id", "uuid", "object", "type", "kind", "role", "version", "index", "ordinal", "timestamp", "tracestate"),
        *("createdat", "updatedat", "startedat", "endedat", "completedat", "startedatms", "completedatms"),
        *("parentid", "parentuuid", "traceid", "spanid", "threadid", "turnid", "sessionid", "requestid", "responseid"),
    )
)
#: The same of parts of a number of tokens, whose sums are read.
_PARTS_OF_TOKENS = ("tokens", "tokens_details")


#: Bound once: a reader asks for millions of fields.
_GET, _ITEM = dict.get, dict.__getitem__


class Accounted(dict[str, Any]):
    """An object that remembers which of its keys were taken.

    Attributes
    ----------
    taken
        The keys, and None where all are.
    """

    __slots__ = ("taken",)

    def __init__(self, value: dict[str, Any], taken: set[str | None] | None = None) -> None:
        super().__init__(value)
        self.taken: set[str | None] = set() if taken is None else taken

    def __getitem__(self, key: str) -> Any:
        self.taken.add(key)
        return _ITEM(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, which is taken."""
        self.taken.add(key)
        return _GET(self, key, default)

    def __iter__(self) -> Iterator[str]:
        self.taken.add(None)
        return super().__iter__()

    def items(self) -> Any:
        """Return all fields, which are taken."""
        self.taken.add(None)
        return super().items()

    def values(self) -> Any:
        """Return all values, which are taken."""
        self.taken.add(None)
        return super().values()

    def __reduce__(self) -> Any:
        return dict, (list(super().items()),)


def accounted(value: Any, depth: int = DEPTH) -> Any:
    """Return a value whose objects remember what is taken of them."""
    kind = value.__class__
    if kind is dict and depth:
        within = depth - 1
        return Accounted(
            {key: accounted(one, within) if one.__class__ in _HOLDS else one for key, one in value.items()}
        )
    if kind is list and depth:
        within = depth - 1
        return [accounted(one, within) if one.__class__ in _HOLDS else one for one in value]
    return value


#: What holds other values in decoded JSON; most values hold none, and a call for each would cost most of the time.
_HOLDS = (dict, list)


def without(value: dict[str, Any], keys: Iterable[str | None]) -> dict[str, Any]:
    """Return the other fields of an object; what is taken of them is taken of the object."""
    own = set(keys)
    rest = {key: one for key, one in dict.items(value) if key not in own}
    if not isinstance(value, Accounted):
        return rest
    value.taken |= own - {None}
    return Accounted(rest, value.taken)


class _OldKeys(set[str | None]):
    """The taken keys of an object, by those of its copy with other keys."""

    def __init__(self, taken: set[str | None], old: dict[str | None, str]) -> None:
        super().__init__()
        self._taken = taken
        self._old = old

    def add(self, key: str | None) -> None:
        super().add(key)
        self._taken.add(self._old.get(key, key))


def renamed(value: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return an object with other keys; what is taken of it is taken of the object.

    >>> value = accounted({"userName": "Ann", "debug": 1})
    >>> renamed(value, str.lower).get("username"), value.taken
    ('Ann', {'userName'})
    """
    found = {change(key): one for key, one in dict.items(value)}
    if not isinstance(value, Accounted):
        return found
    return Accounted(found, _OldKeys(value.taken, {change(key): key for key in value.keys()}))  # noqa: SIM118


def joined(value: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return an object with further fields before its own; what is taken of it is taken of the object."""
    found = {**more, **dict(dict.items(value))}
    return Accounted(found, value.taken) if isinstance(value, Accounted) else found


def kept(value: Any) -> Any:
    """Return a value as it was, for a record that keeps it: all of it is taken.

    >>> kept(accounted({"a": [{"b": 1}]}))
    {'a': [{'b': 1}]}
    """
    if isinstance(value, dict):
        return {key: kept(one) for key, one in value.items()}
    return [kept(one) for one in value] if isinstance(value, list) else value


def count_untaken(value: Any, unread: Counter[str], beside: Collection[str] = (), place: str = "") -> None:
    """Count the fields of a value that nobody took, by their dotted names; an object that nobody looked at is one.

    Parameters
    ----------
    beside
        The keys that say nothing of a question.

    >>> unread, value = Counter(), accounted({"answer": "Acme", "debug": {"ms": 5}, "parts": [{"kind": "new", "x": 1}]})
    >>> value["answer"], [part.get("text") for part in value["parts"]]
    ('Acme', [None])
    >>> count_untaken(value, unread)
    >>> unread
    Counter({'debug': 1, 'parts': 1})
    """
    if isinstance(value, list):
        for one in value:
            count_untaken(one, unread, beside, place)
    elif isinstance(value, Accounted):
        taken, whole = value.taken, None in value.taken
        if value and not whole and taken.isdisjoint(value.keys()):
            unread[place or "values of which nothing is read"] += 1
            return
        for key, one in dict.items(value):
            dotted = f"{place}.{shortened(key)}" if place else shortened(key)
            if key in beside:
                continue
            if whole or key in taken:
                count_untaken(one, unread, beside, dotted)
            elif (one or isinstance(one, int | float)) and not says_nothing(key, one):
                unread[dotted] += 1


def says_nothing(key: str, value: Any) -> bool:
    """Return whether a field says nothing of a question in any format."""
    return not isinstance(value, list) and _is_beside(key)


@lru_cache(maxsize=4096)
def _is_beside(key: str) -> bool:
    return key.endswith(_PARTS_OF_TOKENS) or _SEPARATORS.sub("", key).lower() in _BESIDE


def unread_parts(value: Any, beside: Collection[str] = ()) -> Iterator[bool]:
    """Yield for each object in a list of which nothing is read whether something of another one in the list is.

    What names an object, its kind and its times don't count.
    """
    if isinstance(value, list):
        objects = [one for one in value if isinstance(one, Accounted)]
        untaken = [_is_unread(one) for one in objects]
        some = not all(untaken)
        for one, unread in zip(objects, untaken, strict=True):
            if unread:
                yield some
            else:
                yield from unread_parts(one, beside)
    elif isinstance(value, Accounted):
        whole = None in value.taken
        for key, one in dict.items(value):
            if (whole or key in value.taken) and key not in beside and isinstance(one, dict | list):
                yield from unread_parts(one, beside)


def _is_unread(one: Accounted) -> bool:
    if None in one.taken:
        return False
    keys = [key for key, held in dict.items(one) if held not in EMPTY_VALUES and not says_nothing(key, held)]
    return bool(keys) and one.taken.isdisjoint(keys)


class Account:
    """The values of a file that a reader reads, what it doesn't take of them, and the answers that lack it.

    A reader may hold values until the file ends, so a value is accounted for when an answer follows that stands behind
    it, or when the file ends. An answer waits for that.
    """

    def __init__(self, reader: Reader, unread: Counter[str]) -> None:
        self._reader = reader
        self._unread = unread
        self._beside = frozenset(reader.beside)
        #: By its place each value; None for one of which all is taken.
        self._held: dict[str, Any] = {}
        self._ended = False

    def given(self, values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Yield the values to their reader."""
        for where, value in values:
            self._held[where] = one = accounted(value)
            yield where, one
            if len(self._held) > HELD and where in self._held and not self._untaken(one):
                self._held[where] = None
        self._ended = True

    def read(self, answers: Iterable[LoggedAnswer]) -> Iterator[LoggedAnswer]:
        """Yield the reader's answers, each with what it certainly lacks, and count what nobody took.

        An answer of which a part isn't read has a doubt, and so has one of which nothing is read but its question. A
        search that found nothing walked nothing.
        """
        waiting: list[LoggedAnswer] = []
        given = 0
        for answer in answers:
            if not _says_something(answer):
                answer.notes.append(NOTHING)
            if waiting and self._place(answer) != self._place(waiting[0]):
                if not self._ended:
                    self._settle(waiting, self._before(self._place(answer)))
                yield from map(self._concluded, waiting)
                waiting.clear()
            given += 1
            waiting.append(answer)
        self._settle(waiting if given == 1 or len(self._held) == 1 else [], list(self._held))
        yield from map(self._concluded, waiting)

    def _concluded(self, answer: LoggedAnswer) -> LoggedAnswer:
        """Return an answer, whose search walked nothing if it found nothing."""
        if answer.retrieved == [] and answer.opened is None and answer.error is None and self._reader.finds_edges:
            answer.traversal = answer.traversal or []
        return answer

    def _untaken(self, value: Any) -> bool:
        rest: Counter[str] = Counter()
        count_untaken(value, rest, self._beside)
        return bool(rest)

    def _place(self, answer: LoggedAnswer) -> str:
        """Return the place of the value of an answer, which may name a part of it."""
        where = answer.where
        while where not in self._held and " " in where:
            where = where.rpartition(" ")[0]
        return where.rstrip(",")

    def _before(self, place: str) -> list[str]:
        """Return the places of the values before one, or before the last value if that isn't known."""
        places = list(self._held)
        return places[: places.index(place)] if place in self._held else places[:-1]

    def _settle(self, answers: list[LoggedAnswer], places: Iterable[str]) -> None:
        """Account for values, which are those of the answers."""
        found: list[bool] = []
        for place in places:
            value = self._held.pop(place)
            count_untaken(value, self._unread, self._beside)
            if len(answers) == 1:
                found += unread_parts(value, self._beside)
        if found:
            _doubt(answers[0], any(found))


def _says_something(answer: LoggedAnswer) -> bool:
    """Return whether more of an answer is read than its question, or it is said already that it isn't."""
    if answer.record is not None:
        return bool(answer.record.keys() - {"run", "question_id", "ordered", "doubts"})
    held = (answer.retrieved, answer.traversal, answer.opened, answer.answer, answer.error, answer.rankings)
    return bool(answer.notes) or any(one is not None for one in held)


def _doubt(answer: LoggedAnswer, certain: bool) -> None:
    """Doubt an answer of which parts aren't read: what is empty of it isn't known."""
    empty = answer.retrieved == [] or answer.traversal == []
    answer.retrieved, answer.traversal = answer.retrieved or None, answer.traversal or None
    answer.unknown_calls += certain and answer.opened is not None
    if (certain or empty) and UNREAD_PARTS not in answer.notes:
        answer.notes.append(UNREAD_PARTS)
