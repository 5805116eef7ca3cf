"""Seeing through what a user wrapped around the output of a library, and reading its values without trusting them.

A library gives an object; whoever logs it writes something around it, such as ``{"question_id": "q1", "seconds": 0.4,
"result": {...}}``, or adds to it, such as ``{"question_id": "q1", "nodes": [...]}``. A reader knows the object by its
keys, and :func:`unwrapped` finds it and what else is told of the question.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError
from graphkit.records.words import shortened

#: How deep below a line a payload is looked for, and in how many objects and lists to recognise a format.
DEPTH = 8
LOOKED_AT = 20_000

#: How deep below a line a text is looked into, where nothing else is the payload.
DEPTH_OF_TEXTS = 4

#: An object with more keys around payloads is a table of them, and tells nothing of a question.
MOST_KEYS = 200

#: The keys that hold what is told of a question, without their case, ``_`` and ``-``; the earlier one is believed.
QUESTION_IDS = ("questionid", "queryid", "qid", "sampleid", "exampleid")
#: What is asked may be called otherwise by who logs it; in what a library writes these are ids of its own.
TASK_IDS = ("taskid", "caseid", "testcaseid", "testid", "itemid", "instanceid", "promptid", "customid")
QUESTION_TEXTS = ("questiontext", "querytext", "question", "query", "userinput", "input")
ANSWERS = ("answer", "response", "output", "prediction")
OUTPUTS = ("result", "results", "response", "output", "data", "context", "payload")
#: What the key of what a search found contains.
FOUND = (
    *("result", "response", "output", "data", "context", "payload", "node", "doc", "retriev", "chunk", "source"),
    *("passage", "hit", "match", "item", "record", "found", "search", "entit", "relation", "edge", "triple", "ranking"),
)
ERRORS = ("error", "exception")
ERROR_TYPES = ("errortype", "exceptiontype")

ANSWER_ALONE = "an answer alone, without what the library returned beside it: nothing is said of what was retrieved"

#: Milliseconds in one of what the key counts. A ``latency`` without a unit is one of graphkit's own records.
LATENCIES = {
    "latencyms": 1.0,
    "durationms": 1.0,
    "elapsedms": 1.0,
    "timems": 1.0,
    "milliseconds": 1.0,
    "latencys": 1000.0,
    "latencyseconds": 1000.0,
    "durations": 1000.0,
    "durationseconds": 1000.0,
    "elapseds": 1000.0,
    "elapsedseconds": 1000.0,
    "seconds": 1000.0,
    "secs": 1000.0,
    "latency": 1.0,
    "elapsed": 1000.0,
    "duration": 1000.0,
}

#: The objects beside a payload in which the same keys are looked for.
_BESIDE = ("metadata", "meta", "extra", "inputs", "input", "question", "query")
#: Where an id is looked for as well: beside a run stands the example that it answers, with what is expected of it.
_WITHIN = ("example.metadata", "example.inputs", "example", "extra.metadata")
#: What is asked, as an object of whoever logs it: its ``id`` is the question's.
_ASKED = ("test_case", "testcase", "case", "task", "sample", "item")
_PRINTED = re.compile(r"[A-Z]\w*\(\w+=|(?:items|records)=\[|answer=['\"]")
_INDEX = re.compile(r"\[\d+\]")
_SEPARATORS = re.compile(r"[_\-\s]+")

NOTHING = "nothing in them is what this format writes: only what stands around it was taken"

EMPTY = "an empty list stands where others have what was found: nothing was"


@dataclass(slots=True)
class Wrapped:
    """A payload, and what stood around it.

    Attributes
    ----------
    where
        ``file:line``, and where in it, if one line holds several.
    payload
        None where nothing of the library's is there: an error stands in its place, or nothing.
    empty
        Whether an empty list stands where a payload that is a list would: nothing was found.
    names
        The keys of the payload itself that aren't the library's: they were taken for the question.
    taken
        What was taken, to the dotted key that it was taken from, with the unit of a time.
    rest
        The dotted keys around the payload that weren't taken.
    """

    where: str
    payload: Any
    question: str | None = None
    question_text: str | None = None
    latency_ms: float | None = None
    answer: str | None = None
    error: str | None = None
    error_type: str | None = None
    names: frozenset[str] = frozenset()
    taken: dict[str, str] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    empty: bool = False

    def logged(self, unread: Counter[str]) -> LoggedAnswer:
        """Return an answer that says what stood around the payload, for the reader to say the rest."""
        unread.update(self.rest)
        return LoggedAnswer(
            self.where,
            self.question,
            self.question_text,
            answer=self.answer,
            latency_ms=self.latency_ms,
            error=self.error,
            error_type=self.error_type,
            notes=list(self.notes),
            taken=self.taken,
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A payload with the objects on the way to it, the outermost first: their dotted places, and the next key."""

    payload: Any
    way: tuple[tuple[str, dict[str, Any], str | None], ...]
    spot: str  # of the payload, such as results[3].output
    paired: str | None = None  # what stands before it in a pair, such as ["q1", {...}]


def holds(value: Any, is_payload: Callable[[Any], bool], lists: bool = False) -> bool:
    """Tell whether a payload is somewhere within a value: what a reader recognises its format by."""
    ways = (_payloads(value, is_payload, lists, LOOKED_AT, texts) for texts in (False, True))
    return any(next(found, None) is not None for found in ways)


def unwrapped(
    value: Any, is_payload: Callable[[Any], bool], options: ReadOptions, where: str = "", lists: bool = False
) -> Wrapped:
    """Return the one payload of a value; see :func:`each_unwrapped`.

    Raises
    ------
    UnreadableLogError
        There is none and no question's id, or there are several.
    """
    found = list(each_unwrapped(value, is_payload, options, where, lists))
    if len(found) > 1:
        raise UnreadableLogError(
            f"it holds {len(found)} outputs of the library, and which is the question's isn't said",
            where=where or None,
            remedy="Write each with its question's id, one a line.",
        )
    return found[0]


def nothing_known(value: Any, where: str) -> UnreadableLogError:
    """Return the refusal of a value in which nothing is what the format writes."""
    shown = shortened(", ".join(map(str, value)) if isinstance(value, dict) else repr(value)[:200])
    return UnreadableLogError(
        f"nothing in it is what this format writes (it holds: {shown})",
        where=where or None,
        remedy="Name the format that it has; `auto` recognises each by its content. A line that is no answer, "
        "such as a header, has to be left out.",
    )


def each_unwrapped(
    value: Any,
    is_payload: Callable[[Any], bool],
    options: ReadOptions,
    where: str = "",
    lists: bool = False,
    answers: bool = False,
) -> Iterator[Wrapped]:
    """Yield each payload of a value, in the order in which they stand, with what is told of its question.

    Where there is none, texts are looked into, which may hold one as JSON. A value that has nothing but a question's id
    is what was logged of a question for which nothing came.

    Parameters
    ----------
    is_payload
        Tells whether an object is the library's. It is asked of the outer objects first, and of none within a payload.
    lists
        Whether it is asked of lists too.
    answers
        Whether an answer alone, without a payload, says something. It is told that it says nothing of retrieval.

    Raises
    ------
    UnreadableLogError
        There is none and no question's id, or the key that the user named isn't there.
    """
    if (rows := _rows_of(value, options)) is not None and not is_payload(value):
        for number, row in enumerate(rows, 1):
            yield from each_unwrapped(row, is_payload, options, f"{where} row {number}".strip(), lists, answers)
        return
    found = list(_payloads(value, is_payload, lists)) or list(_payloads(value, is_payload, lists, texts=True))
    followed: dict[int, set[str | None]] = {}
    for one in found:
        for _, outer, following in one.way:
            followed.setdefault(id(outer), set()).add(following)
    for one in found:
        yield _told(one, f"{where} {one.spot}".strip() if len(found) > 1 else where, options, followed)
    if not found:
        told = _told(_Found(None, (("", value, None),), ""), where, options, {}) if isinstance(value, dict) else None
        null = [name for name in (value if told is not None else ()) if value[name] is None and _plain(name) in OUTPUTS]
        if told is not None and answers and told.answer is None and (whole := text(value.get("result"))) is not None:
            told.answer, told.taken["answer"] = whole, "result"
            told.rest = tuple(name for name in told.rest if name != "result")
        if told is not None and answers and told.answer is not None and told.error is None:
            if printed := _PRINTED.match(told.answer):
                raise UnreadableLogError(
                    f"the output is an object's text as str() gives it ({printed[0]}...), which isn't read",
                    where=where or None,
                    remedy="Write its fields: dataclasses.asdict(result), or result.model_dump(mode='json').",
                )
            told.notes = (ANSWER_ALONE,)
        elif told is not None and null and told.error is None:
            told.error, told.error_type = f"there is no output: its {null[0]} is null", "no_output"
        elif told is None or told.question is None is told.error:
            raise nothing_known(value, where)
        told.error = told.error or next(filter(None, map(_error_in, value.values())), None)
        told.empty = lists and any(given == [] and _holds_found(name) for name, given in value.items())
        if told.error is None and not told.notes:
            told.notes = (EMPTY if told.empty else NOTHING,)
        yield told


def _holds_found(name: str) -> bool:
    """Tell whether a key is one under which what was found stands: an empty list of tags is no search for nothing."""
    return any(part in _plain(name) for part in FOUND)


def _rows_of(value: Any, options: ReadOptions) -> list[dict[str, Any]] | None:
    """Return the rows of a table by its columns, as data frames write it, if one of them has the questions."""
    if not isinstance(value, dict) or not 2 <= len(value) <= MOST_KEYS:
        return None
    named = any(_plain(name) in (*QUESTION_IDS, *QUESTION_TEXTS, "id") for name in value)
    if not named and options.question_key not in value:
        return None
    columns = list(value.values())
    if all(isinstance(column, dict) and "0" in column for column in columns):  # by the numbers of the rows, as pandas
        numbers = tuple(columns[0])
        if all(tuple(column) == numbers for column in columns) and all(map(str.isdecimal, numbers)):
            columns = [list(column.values()) for column in columns]
    if all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1:
        return [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return None


def count_unread(value: dict[str, Any], used: Iterable[str], unread: Counter[str], prefix: str = "") -> None:
    """Count the keys of an object that aren't used and say something, by their dotted names."""
    known = set(used)
    for name, given in value.items():
        if name not in known and (given or isinstance(given, int | float)):
            unread[f"{prefix}{shortened(name)}"] += 1


def number(value: Any) -> float | None:
    """Return a finite number, also one written as text, or None.

    >>> number("0.5"), number(True), number(float("nan")), number("x")
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        given = float(value)
    except (ValueError, OverflowError):
        return None
    return given if math.isfinite(given) else None


def whole(value: Any) -> int | None:
    """Return a count, also one written as text or as ``3.0``, or None."""
    given = number(value)
    return int(given) if given is not None and given >= 0 and given == int(given) else None


def text(value: Any) -> str | None:
    """Return a text that isn't empty, or None."""
    return value if isinstance(value, str) and value else None


def identifier(value: Any) -> str | None:
    """Return an id as text, also one that is a number.

    >>> identifier(7), identifier(7.0), identifier(" q1 "), identifier(True)
    ('7', '7', 'q1', None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else None
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value == int(value) else None
    return value.strip() or None if isinstance(value, str) else None


def texts(value: Any) -> list[str] | None:
    """Return the texts and numbers of a list as texts, or None where it isn't a list."""
    if not isinstance(value, list | tuple):
        return None
    return [name for name in map(identifier, value) if name is not None]


def json_within(value: Any) -> Any:
    """Return the JSON that a text holds, as spans and tool calls have it; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def at(value: Any, dotted: str) -> Any:
    """Return what stands at a dotted key, which may itself hold dots, or None.

    >>> at({"a": {"b": 1}, "c.d": 2}, "a.b"), at({"c.d": 2}, "c.d"), at({}, "a")
    (1, 2, None)
    """
    if not isinstance(value, dict):
        return None
    if dotted in value:
        return value[dotted]
    first, dot, rest = dotted.partition(".")
    return at(value.get(first), rest) if dot else None


def _payloads(
    value: Any, is_payload: Callable[[Any], bool], lists: bool, most: float = math.inf, texts: bool = False
) -> Iterator[_Found]:
    """Yield the payloads of a value, breadth first; an object within a payload is none."""
    waiting = deque([(_Found(value, (), ""), 0)])
    looked_at = 0
    while waiting and looked_at < most:
        found, depth = waiting.popleft()
        looked_at += 1
        one = found.payload
        if not isinstance(one, dict | list) or depth > DEPTH:
            continue
        if isinstance(one, dict):
            place = _INDEX.sub("[]", found.spot)
            if is_payload(one):
                yield replace(found, way=(*found.way, (place, one, None)))
                continue
        elif lists and is_payload(one):
            yield found
            continue
        waiting.extend((inner, depth + 1) for inner in _inside(found, texts and depth < DEPTH_OF_TEXTS))


def _inside(found: _Found, texts: bool) -> Iterator[_Found]:
    """Yield what lies directly within an object or a list, and may be a payload or hold one, or a text that may."""
    one, spot = found.payload, found.spot
    if isinstance(one, dict):
        place = _INDEX.sub("[]", spot)
        for name, item in one.items():
            if texts and isinstance(item, str) and "." not in name:  # JSON as text, as model_dump_json() gives it
                item = json_within(item)
            if isinstance(item, dict | list):
                way = (*found.way, (place, one, name))
                yield _Found(item, way, f"{spot}.{name}" if spot else name, found.paired)
        return
    paired = identifier(one[0]) if len(one) == 2 else None
    for index, item in enumerate(one):
        if texts and isinstance(item, str):
            item = json_within(item)
        if isinstance(item, dict | list):
            yield _Found(item, found.way, f"{spot}[{index}]", paired or found.paired)


def _told(found: _Found, where: str, options: ReadOptions, followed: Mapping[int, Collection[str | None]]) -> Wrapped:
    """Return a payload with what the objects on the way say of its question, those nearest to it first.

    ``followed`` has for each of these objects the keys that lead to payloads. Where there are several, the key is an
    id, if nothing else is.
    """
    told = Wrapped(where, found.payload)
    places = list(_places(found))
    used: set[str] = set()

    def take(what: str, names: Iterable[str], read: Callable[[Any], Any], anywhere: bool = False) -> Any:
        for name in names:
            for prefix, keys, library in places:
                if name not in keys or (library and not anywhere):
                    continue
                key, value = keys[name]
                if f"{prefix}{key}" not in used and (given := read(value)) is not None:
                    used.add(f"{prefix}{key}")
                    told.taken[what] = f"{prefix}{key}"
                    return given
        return None

    if options.question_key is not None:
        told.question = _by_key(found, options.question_key, where, used)
        told.taken["question id"] = options.question_key
    else:
        told.question = take("question id", QUESTION_IDS, identifier, anywhere=True)
        told.question = told.question or take("question id", TASK_IDS, identifier) or _id_within(found, told, used)
        if told.question is None:
            told.question = _bare_id(found, told, used) or _key_of(found, told, followed)
        if told.question is None and found.paired is not None:
            told.question = told.question_text = found.paired
            told.taken["question id"] = "what stands before it in a pair"
    told.question_text = take("question text", QUESTION_TEXTS, text) or told.question_text
    for name, factor in LATENCIES.items():
        given = take("latency", (name,), _duration)
        if given is not None:
            told.latency_ms = given * factor
            told.taken["latency"] += " in milliseconds" if factor == 1 else " in seconds"
            break
    told.answer = take("answer", ANSWERS, text)
    told.error = take("error", ERRORS, _message)
    told.error_type = take("type of error", ERROR_TYPES, text)
    if isinstance(found.payload, dict):
        place = found.way[-1][0]
        own = f"{place}." if place else ""
        told.names = frozenset(name for name in found.payload if f"{own}{name}" in used)
    told.rest = tuple(_rest(found, used, followed))
    return told


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


def _places(found: _Found) -> Iterator[tuple[str, dict[str, tuple[str, Any]], bool]]:
    """Yield the objects in which something is told of a payload, the nearest first.

    Each with its dotted prefix, and whether it is the library's, such as the payload's own metadata.
    """
    for place, one, following in reversed(found.way):
        if one is not found.payload and len(one) > MOST_KEYS:
            continue
        prefix = f"{place}." if place else ""
        yield prefix, {_plain(name): (name, value) for name, value in one.items() if name != following}, False
        for name in _BESIDE:
            inner = one.get(name)
            if isinstance(inner, dict) and name != following:
                held = {_plain(key): (key, value) for key, value in inner.items()}
                if name in ("question", "query"):  # {"question": {"id": ..., "text": ...}}
                    held |= {f"question{key}": held[key] for key in ("id", "text") if key in held}
                yield f"{prefix}{name}.", held, one is found.payload


def _by_key(found: _Found, key: str, where: str, used: set[str]) -> str | None:
    """Return the question's id at the key that the user named, counted from any object on the way."""
    for place, one, _ in reversed(found.way):
        given = identifier(at(one, key))
        if given is not None:
            used.add(f"{place}.{key}" if place else key)
            return given
    raise UnreadableLogError(
        f"it has no question's id at {key!r}",
        where=where or None,
        remedy="Correct --question-key; a key within another is written with a dot, such as metadata.question_id.",
    )


def _id_within(found: _Found, told: Wrapped, used: set[str]) -> str | None:
    """Return an id that stands deeper beside the payload."""
    for place, one, _ in reversed(found.way):
        for dotted in (*_WITHIN, *_ASKED):
            inner = at(one, dotted)
            names = (*QUESTION_IDS, *TASK_IDS, "id") if dotted in _ASKED else QUESTION_IDS
            for name, given in inner.items() if isinstance(inner, dict) and one is not found.payload else ():
                if _plain(name) in names and (question := identifier(given)) is not None:
                    told.taken["question id"] = f"{place}.{dotted}.{name}" if place else f"{dotted}.{name}"
                    used.add(told.taken["question id"])
                    return question
    return None


def _bare_id(found: _Found, told: Wrapped, used: set[str]) -> str | None:
    """Return the ``id`` of what the user wrote around the payload; a library's own objects have an ``id`` as well."""
    for place, one, following in found.way:
        given = identifier(one.get("id"))
        if given is not None and (following is not None or place == ""):
            dotted = f"{place}.id" if place else "id"
            used.add(dotted)
            told.taken["question id"] = dotted
            return given
    return None


def _duration(value: Any) -> float | None:
    given = number(value)
    return given if given is not None and given >= 0 else None


def _key_of(found: _Found, told: Wrapped, followed: Mapping[int, Collection[str | None]]) -> str | None:
    """Return the key under which a table of payloads holds this one."""
    for place, one, following in reversed(found.way):
        if following is not None and len(followed.get(id(one), ())) > 1:
            told.taken["question id"] = f"the keys of {place or 'the outer object'}"
            told.question_text = text(following)
            return identifier(following)
    return None


def _message(value: Any) -> str | None:
    """Return the words of an error: a text, or an object with a ``message``."""
    return text(value.get("message")) or json.dumps(value)[:1000] if isinstance(value, dict) and value else text(value)


def _error_in(value: Any) -> str | None:
    """Return the error that stands in the place of an output."""
    inner = value.items() if isinstance(value, dict) else ()
    return next((words for name, given in inner if _plain(name) in ERRORS and (words := _message(given))), None)


def _rest(found: _Found, used: set[str], followed: Mapping[int, Collection[str | None]]) -> Iterator[str]:
    for place, one, following in found.way:
        if one is found.payload or len(one) > MOST_KEYS:
            continue
        prefix = f"{place}." if place else ""
        for name, value in one.items():
            if name != following and name not in followed.get(id(one), ()):
                yield from _unused(f"{prefix}{name}", value, used)


def _unused(dotted: str, value: Any, used: set[str]) -> Iterator[str]:
    if dotted in used or value in (None, "", [], {}):
        return
    if isinstance(value, dict) and any(key.startswith(f"{dotted}.") for key in used):
        for key, inner in value.items():
            yield from _unused(f"{dotted}.{key}", inner, used)
    else:
        yield shortened(dotted)
