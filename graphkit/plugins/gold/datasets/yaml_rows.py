"""Records of a YAML file, with their lines.

Only the events of the parser are read, without its types: a text is a text, so ``no`` and ``2024-01-01`` stay texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from graphkit.errors import InputError
from graphkit.files.intake import are_lifted, too_much
from graphkit.imports.sources import whole_text

#: The longest file that is read, in characters: its values need many times as much memory.
_LONGEST = 4 << 20

#: The deepest nesting that is read.
_DEEPEST = 50

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}

#: The parser in C, if it is there: the other one is ten times slower.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_records(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line, value) of each item of the list that a YAML file holds, or of each of its documents.

    A list may be the only field of an object, such as ``questions:``.

    Raises
    ------
    InputError
        The file isn't YAML, has anchors or aliases, is nested too deeply, or can't be read.
    """
    [(_, text)] = whole_text(path)
    if len(text) > _LONGEST and not are_lifted():
        raise too_much(f"the YAML is longer than {_LONGEST >> 20} MiB", str(path))
    try:
        for kind, events in _documents(_Events(text, path)):
            if kind == "list":
                yield from events
            else:
                yield from _unwrapped(events)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be read"
        raise InputError(f"not valid YAML: {what}", where=where, remedy="Check indentation and quotes.") from None


class _Events:
    """The events of a parser, one ahead."""

    def __init__(self, text: str, path: Path) -> None:
        self._events = iter(yaml.parse(text, Loader=_LOADER))
        self.path = path
        self.next: Any = next(self._events)

    def take(self) -> Any:
        """Return the next event, and go on."""
        event, self.next = self.next, next(self._events, None)
        return event

    @property
    def line(self) -> int:
        """The line of the next event."""
        return int(self.next.start_mark.line) + 1


def _documents(events: _Events) -> Iterator[tuple[str, Iterator[tuple[int, Any]]]]:
    events.take()
    while isinstance(events.next, yaml.DocumentStartEvent):
        events.take()
        if isinstance(events.next, yaml.SequenceStartEvent):
            events.take()
            yield "list", _items(events)
        else:
            yield "value", iter([(events.line, _value(events, 0))])
        events.take()


def _items(events: _Events) -> Iterator[tuple[int, Any]]:
    while not isinstance(events.next, yaml.SequenceEndEvent):
        yield events.line, _value(events, 1)
    events.take()


class _Placed(list[Any]):
    """A list that knows the lines of its items."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def _unwrapped(found: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield the items of a list that is the only field of an object; yield any other value as it is."""
    for line, value in found:
        [inner] = value.values() if isinstance(value, dict) and len(value) == 1 else [None]
        if isinstance(inner, _Placed):
            yield from zip(inner.lines, inner, strict=True)
        elif value is not None:
            yield line, value


def _value(events: _Events, depth: int) -> Any:
    where = f"{events.path}:{events.line}"
    if depth > _DEEPEST:
        raise InputError("the YAML is nested too deeply", where=where, remedy="Write the questions as a list.")
    event = events.take()
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        remedy = "Write each value where it belongs."
        raise InputError("anchors and aliases of YAML aren't read", where=where, remedy=remedy)
    if isinstance(event, yaml.SequenceStartEvent):
        items = _Placed()
        while not isinstance(events.next, yaml.SequenceEndEvent):
            items.lines.append(events.line)
            items.append(_value(events, depth + 1))
        events.take()
        return items
    if isinstance(event, yaml.MappingStartEvent):
        return _mapping(events, depth)
    return event.value if event.style in ("'", '"', "|", ">") else _plain(event.value)


def _mapping(events: _Events, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while not isinstance(events.next, yaml.MappingEndEvent):
        where = f"{events.path}:{events.line}"
        key = events.next.value if isinstance(events.next, yaml.ScalarEvent) else None
        _value(events, depth + 1)
        if key is None:
            raise InputError("a name must be a text", where=where, remedy="Write the name, a colon, and the value.")
        if key in found:
            remedy = "Remove the one that isn't meant."
            raise InputError(f"the field {key[:60]!r} occurs twice in one object", where=where, remedy=remedy)
        found[key] = _value(events, depth + 1)
    events.take()
    return found


def _plain(text: str) -> Any:
    """Return the value of a scalar without quotes: a number, true, false, null or a text, as in JSON."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text) and len(text) < 100:
        return json.loads(text)
    return text
