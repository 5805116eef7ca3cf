"""Finds the output of a library within a user's own wrapper, and reads values without trusting them.

A user who logs an object of a library writes something around it, such as ``{"question_id": "q1", "seconds": 0.4,
"result": {...}}``, or adds to it, such as ``{"question_id": "q1", "nodes": [...]}``. A reader knows the object, the
*payload*, by its keys. :func:`each_unwrapped` finds it, and the wrappers in ``_WRAPPERS`` find its question.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from graphkit.readers.accounting import EMPTY_VALUES
from graphkit.readers.json_values import EMPTY, identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError
from graphkit.records.doubts import NOTHING
from graphkit.records.repetition_names import TRIALS
from graphkit.records.words import shortened

T = TypeVar("T")
#: The keys of objects that lead to payloads, by the identity of the object.
_Followed = dict[int, set[str | None]]

#: Limits of the search for a payload: the depth below a line, and the objects and lists that recognition reads.
DEPTH = 8
LOOKED_AT = 20_000

#: The depth below a line at which texts are read as JSON, if no other payload is found.
DEPTH_OF_TEXTS = 4

#: An object with more keys around payloads is a table of them, and says nothing of a single question.
MOST_KEYS = 200

#: The keys of a question's id, without case, ``_`` and ``-``; the earlier key wins. ``question_id`` is that of nearly
#: every log in data/logs, ``query_id`` and ``qid`` are those of BEIR and TREC.
QUESTION_IDS = ("questionid", "queryid", "qid")
#: The same in the batches of OpenAI (``custom_id``), in trajectories for SWE-bench (``instance_id``) and Terminal-Bench
#: (``task_id``). Libraries have ids of their own under these keys, so they count only outside of the payload.
TASK_IDS = ("taskid", "customid", "instanceid")
QUESTION_TEXTS = ("questiontext", "querytext", "question", "query", "userinput", "input")
ANSWERS = ("answer", "response", "output")
OUTPUTS = ("result", "results", "response", "output", "data", "context", "payload")
#: Parts of the keys whose empty list is a search that found nothing (chain outputs, retriever_result, hits).
FOUND = (
    *(*OUTPUTS[:1], *OUTPUTS[2:], "node", "doc", "retriev", "chunk", "source", "passage", "hit", "match", "item"),
    *("record", "found", "search", "entit", "relation", "edge", "triple", "ranking"),
)
ERRORS = ("error", "exception")
ERROR_TYPES = ("errortype", "exceptiontype")

ANSWER_ALONE = "an answer alone, without what the library returned beside it: nothing is said of what was retrieved"

#: Milliseconds per unit of each key: ``seconds`` in data/logs, ``latency_ms`` and ``latency`` in records of graphkit,
#: ``duration_ms`` in transcripts of agents.
LATENCIES = {"latencyms": 1.0, "durationms": 1.0, "seconds": 1e3, "latency": 1.0}

#: The objects beside a payload that may hold the same keys: ``metadata`` of LangChain's documents and of OpenAI's
#: batches, ``extra`` of ATIF, ``inputs`` of LangSmith's runs, ``question`` of graphkit's own datasets.
_BESIDE = ("metadata", "extra", "inputs", "input", "question", "query")
#: LangSmith's exports: a run has its example, or its own metadata, beside it.
_LANGSMITH = ("example.metadata", "example.inputs", "example", "extra.metadata")
_PRINTED = re.compile(r"[A-Z]\w*\(\w+=|(?:items|records)=\[|answer=['\"]")
_INDEX = re.compile(r"\[\d+\]")
_SEPARATORS = re.compile(r"[_\-\s]+")


@dataclass(slots=True)
class Wrapped:
    """A payload and its surroundings.

    Attributes
    ----------
    answer
        The fields around the payload: the question, its answer, time and error, with their keys.
    payload
        None if the library wrote nothing, but at most an error.
    names
        The keys of the payload itself that name the question, and aren't the library's.
    rest
        The dotted keys around the payload that weren't used.
    empty
        Whether an empty list replaces a payload that is a list, since nothing was found.
    """

    answer: LoggedAnswer
    payload: Any
    names: frozenset[str] = frozenset()
    rest: tuple[str, ...] = ()
    empty: bool = False

    @property
    def question(self) -> str | None:
        """The id of the question."""
        return self.answer.question

    def logged(self, unread: Counter[str]) -> LoggedAnswer:
        """Return an answer with the fields around the payload; the reader adds the rest."""
        unread.update(self.rest)
        return self.answer


@dataclass(frozen=True, slots=True)
class _Found:
    """A payload with the objects on the way to it, the outermost first: their dotted places, and the next key."""

    payload: Any
    way: tuple[tuple[str, dict[str, Any], str | None], ...]
    spot: str  # of the payload, such as results[3].output
    paired: str | None = None  # the first item of a pair, such as ["q1", {...}]


def holds(value: Any, is_payload: Callable[[Any], bool], lists: bool = False) -> bool:
    """Return whether a payload is somewhere within a value, by which a reader recognises its format."""
    ways = (_payloads(value, is_payload, lists, LOOKED_AT, texts) for texts in (False, True))
    return any(next(found, None) is not None for found in ways)


def nothing_known(value: Any, where: str) -> UnreadableLogError:
    """Return the refusal of a value in which nothing is what the format writes."""
    shown = shortened(", ".join(map(str, value)) if isinstance(value, dict) else repr(value)[:200])
    return UnreadableLogError(
        f"nothing in it is what this format writes (it holds: {shown})",
        where=where or None,
        remedy="Name the format that it has; `auto` recognises each by its content. A line that is no answer, "
        "such as a header, has to be removed.",
    )


def each_unwrapped(
    value: Any,
    is_payload: Callable[[Any], bool],
    options: ReadOptions,
    where: str = "",
    lists: bool = False,
    answers: bool = False,
) -> Iterator[Wrapped]:
    """Yield each payload of a value in order, with what the value says of its question.

    Where there is none, texts are looked into, which may hold one as JSON. A value that has nothing but a question's id
    is what was logged of a question for which nothing came.

    Parameters
    ----------
    is_payload
        Tells whether an object is the library's. It is asked of the outer objects first, and of none within a payload.
    lists
        Whether it is asked of lists too.
    answers
        Whether an answer alone, without a payload, counts; it is noted that it says nothing of retrieval.

    Raises
    ------
    UnreadableLogError
        There is none and no question's id, or the key that the user named isn't there.
    """
    found = list(_payloads(value, is_payload, lists)) or list(_payloads(value, is_payload, lists, texts=True))
    followed: _Followed = {}
    for one in found:
        for _, outer, following in one.way:
            followed.setdefault(id(outer), set()).add(following)
    for one in found:
        yield _wrapped(one, f"{where} {one.spot}".strip() if len(found) > 1 else where, options, followed)
    if not found:
        yield _without_payload(value, options, where, lists, answers)


def _without_payload(value: Any, options: ReadOptions, where: str, lists: bool, answers: bool) -> Wrapped:
    """Return the content of a value without a payload: a failed question, an answer alone, or an empty search."""
    if not isinstance(value, dict):
        raise nothing_known(value, where)
    wrapped = _wrapped(_Found(None, (("", value, None),), ""), where, options, {})
    logged = wrapped.answer
    null = next((name for name in value if value[name] is None and plain_key(name) in OUTPUTS), None)
    if answers and logged.answer is None and (answer := text(value.get("result"))) is not None:
        logged.answer, logged.taken["answer"] = answer, "result"
        wrapped.rest = tuple(name for name in wrapped.rest if name != "result")
    if answers and logged.answer is not None and logged.error is None:
        if printed := _PRINTED.match(logged.answer):
            raise UnreadableLogError(
                f"the output is an object's text as str() gives it ({printed[0]}...), which isn't read",
                where=where or None,
                remedy="Write its fields: dataclasses.asdict(result), or result.model_dump(mode='json').",
            )
        logged.notes = [ANSWER_ALONE]
    elif null is not None and logged.error is None:
        logged.error, logged.error_type = f"there is no output: its {null} is null", "no_output"
    elif logged.question is None is logged.error:
        raise nothing_known(value, where)
    logged.error = logged.error or next(filter(None, map(_error_in, value.values())), None)
    # An empty list of tags is no search that found nothing.
    wrapped.empty = lists and any(
        given == [] and any(part in plain_key(key) for part in FOUND) for key, given in value.items()
    )
    if logged.error is None and not logged.notes:
        logged.notes = [EMPTY if wrapped.empty else NOTHING]
    return wrapped


def count_unread(value: dict[str, Any], used: Iterable[str], unread: Counter[str], prefix: str = "") -> None:
    """Count the keys of an object that aren't used and say something, by their dotted names."""
    known = set(used)
    for name, given in value.items():
        if name not in known and (given or isinstance(given, int | float)):
            unread[f"{prefix}{shortened(name)}"] += 1


def texts(value: Any) -> list[str] | None:
    """Return the texts and numbers of a list as texts, also of lists in it; None if there are none, or no list.

    >>> texts(["a", 1]), texts([["a"], ["b"]]), texts([]), texts([{}]), texts("a")
    (['a', '1'], ['a', 'b'], [], None, None)
    """
    if not isinstance(value, list | tuple):
        return None
    parts = [part for one in value for part in (one if isinstance(one, list | tuple) else [one])]
    found = [name for name in map(identifier, parts) if name is not None]
    return found if found or not value else None


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def question_id(*around: Any) -> str | None:
    """Return the id of a question under one of its usual keys in the first object that has one.

    >>> question_id({"topic": "x"}, {"Question-ID": 7})
    '7'
    """
    for one in around:
        for name, value in object_of(one).items():
            if plain_key(name) in QUESTION_IDS and (found := identifier(value)) is not None:
                return found
    return None


def json_within(value: Any) -> Any:
    """Return the JSON value in a text, as in spans and tool calls, or any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def at(value: Any, dotted: str) -> Any:
    """Return the value at a dotted key, which may itself hold dots, or None.

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
        for name, item in dict.items(one):  # looking for payloads takes nothing
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


class _Surroundings:
    """The objects on the way to a payload, the nearest first, and the keys of them that were used.

    ``followed`` holds the keys of each of these objects that lead to payloads.
    """

    def __init__(self, found: _Found, followed: _Followed) -> None:
        self.found = found
        self.followed = followed
        self.used: set[str] = set()
        self.taken: dict[str, str] = {}
        self._places = list(_places(found))

    def first(
        self, what: str, keys: Iterable[str], read: Callable[[Any], T | None], anywhere: bool = False
    ) -> T | None:
        """Return the value of the first of some keys; with ``anywhere`` also in the library's own metadata."""
        for key in keys:
            for prefix, held, of_library in self._places:
                if key in held and (anywhere or not of_library):
                    name, value = held[key]
                    if f"{prefix}{name}" not in self.used and (given := read(value)) is not None:
                        return self.take(what, f"{prefix}{name}", given)
        return None

    def take(self, what: str, place: str, given: T) -> T:
        """Return a value, and note its place."""
        self.used.add(place)
        self.taken[what] = place
        return given

    def rest(self) -> Iterator[str]:
        """Yield the dotted keys around the payload that weren't used and say something."""
        for place, one, following in self.found.way:
            if one is not self.found.payload and len(one) <= MOST_KEYS:
                for name, value in one.items():
                    if name != following and name not in self.followed.get(id(one), ()):
                        yield from self._unused(_dotted(place, name), value)

    def _unused(self, dotted: str, value: Any) -> Iterator[str]:
        if dotted in self.used or value in EMPTY_VALUES:
            return
        if isinstance(value, dict) and any(key.startswith(f"{dotted}.") for key in self.used):
            for key, inner in value.items():
                yield from self._unused(f"{dotted}.{key}", inner)
        else:
            yield shortened(dotted)


def _wrapped(found: _Found, where: str, options: ReadOptions, followed: _Followed) -> Wrapped:
    """Return a payload with what the objects on the way say of its question, the nearest object first."""
    around = _Surroundings(found, followed)
    logged = LoggedAnswer(where, taken=around.taken)
    wrapped = Wrapped(logged, found.payload)
    if options.question_key is not None:
        logged.question = _named_key(around, options.question_key, where)
    else:
        ids = ((wrapper, wrapper(around)) for wrapper in _WRAPPERS)
        by, logged.question = next((one for one in ids if one[1] is not None), (None, None))
        logged.question_text = logged.question if by in (_table_key, _pair) else None  # may be the question's words
    logged.question_text = around.first("question text", QUESTION_TEXTS, text) or logged.question_text
    for name, factor in LATENCIES.items():
        given = around.first("latency", (name,), _duration)
        if given is not None:
            if name == "latency" and any(isinstance(one.get("observations"), list) for _, one, _ in found.way):
                factor = 1e3  # a trace of Langfuse
            logged.latency_ms = given * factor
            logged.taken["latency"] += " in milliseconds" if factor == 1 else " in seconds"
            break
    logged.answer = around.first("answer", ANSWERS, text)
    logged.trial = around.first("trial", TRIALS, identifier)
    logged.error = around.first("error", ERRORS, _message)
    logged.error_type = around.first("type of error", ERROR_TYPES, text)
    if isinstance(found.payload, dict):
        place = found.way[-1][0]
        wrapped.names = frozenset(name for name in {*found.payload.keys()} if _dotted(place, name) in around.used)
        for dotted in around.used:
            at(found.payload, dotted.removeprefix(_dotted(place, "")))
    wrapped.rest = tuple(around.rest())
    return wrapped


def plain_key(name: str) -> str:
    """Return a key without case, ``_``, ``-`` and blanks."""
    return _SEPARATORS.sub("", name).lower()


def _dotted(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _places(found: _Found) -> Iterator[tuple[str, dict[str, tuple[str, Any]], bool]]:
    """Yield the objects that may say something of a payload, the nearest first.

    Each comes with its dotted prefix, and with whether it is the library's, such as the payload's own metadata.
    """
    for place, one, following in reversed(found.way):
        if one is not found.payload and len(one) > MOST_KEYS:
            continue
        own = {plain_key(name): (name, value) for name, value in dict.items(one) if name != following}
        yield _dotted(place, ""), own, False
        for name in _BESIDE:
            inner = dict.get(one, name)
            if isinstance(inner, dict) and name != following:
                held = {plain_key(key): (key, value) for key, value in dict.items(inner)}
                if name in ("question", "query"):  # {"question": {"id": ..., "text": ...}}
                    held |= {f"question{key}": held[key] for key in ("id", "text") if key in held}
                yield _dotted(place, f"{name}."), held, one is found.payload


def _named_key(around: _Surroundings, key: str, where: str) -> str:
    """Return the question's id at the key that the user named, counted from any object on the way."""
    for place, one, _ in reversed(around.found.way):
        given = identifier(at(one, key))
        if given is not None:
            around.used.add(_dotted(place, key))
            around.taken["question id"] = key
            return given
    raise UnreadableLogError(
        f"it has no question's id at {key!r}",
        where=where or None,
        remedy="Correct --question-key; a key within another is written with a dot, such as metadata.question_id.",
    )


def _question_id(around: _Surroundings) -> str | None:
    """Return the id of ``{"question_id": "q1", "result": {...}}``, as nearly every log in data/logs has it."""
    return around.first("question id", QUESTION_IDS, identifier, anywhere=True)


def _task_id(around: _Surroundings) -> str | None:
    """Return the id of ``{"custom_id": "q1", "response": {...}}``, as OpenAI's batches have it."""
    return around.first("question id", TASK_IDS, identifier)


def _example(around: _Surroundings) -> str | None:
    """Return the id of ``{"run": {...}, "example": {"metadata": {"question_id": "q1"}}}``, as LangSmith exports it."""
    for place, one, _ in reversed(around.found.way):
        for dotted in _LANGSMITH:
            inner = at(one, dotted)
            for name, given in inner.items() if isinstance(inner, dict) and one is not around.found.payload else ():
                if plain_key(name) in QUESTION_IDS and (question := identifier(given)) is not None:
                    return around.take("question id", _dotted(place, f"{dotted}.{name}"), question)
    return None


def _bare_id(around: _Surroundings) -> str | None:
    """Return the id of ``{"id": "q1", "result": {...}}``; the ``id`` of a payload further in is the library's own."""
    for place, one, following in around.found.way:
        given = identifier(one.get("id"))
        if given is not None and (following is not None or place == ""):
            return around.take("question id", _dotted(place, "id"), given)
    return None


def _table_key(around: _Surroundings) -> str | None:
    """Return the key of ``{"q1": {...}, "q2": {...}}``, as LightRAG's contexts and conversations are kept."""
    for place, one, following in reversed(around.found.way):
        if following is not None and len(around.followed.get(id(one), ())) > 1:
            around.taken["question id"] = f"the keys of {place or 'the outer object'}"
            return identifier(following)
    return None


def _pair(around: _Surroundings) -> str | None:
    """Return the question of ``["q1", {...}]``, as neo4j-graphrag's and LightRAG's users zip questions with results."""
    if around.found.paired is not None:
        around.taken["question id"] = "what stands before it in a pair"
    return around.found.paired


#: The forms that users write around a payload, in the order in which their ids are believed.
_WRAPPERS = (_question_id, _task_id, _example, _bare_id, _table_key, _pair)


def _duration(value: Any) -> float | None:
    given = number(value)
    return given if given is not None and given >= 0 else None


def _message(value: Any) -> str | None:
    """Return the words of an error: a text, or an object with a ``message``."""
    return text(value.get("message")) or json.dumps(value)[:1000] if isinstance(value, dict) and value else text(value)


def _error_in(value: Any) -> str | None:
    """Return the error that replaces an output."""
    inner = value.items() if isinstance(value, dict) else ()
    return next((words for name, given in inner if plain_key(name) in ERRORS and (words := _message(given))), None)
