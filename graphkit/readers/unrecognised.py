"""What an unrecognised log holds, in words: its keys, or how it begins."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from graphkit.records.words import shortened

#: How many keys are looked at and shown, and how much of a text.
LOOKED_AT, SHOWN, BEGINNING = 200, 8, 60

#: How a log of any other form is read.
REMEDY = (
    "`graphkit import auto FILE --dataset DIR` finds its fields by their values; docs/importing.md says how any log is "
    "read."
)


def keys_of(values: Iterable[Any]) -> list[str]:
    """Return the keys of objects, the outermost first, each once."""
    found: dict[str, None] = {}
    waiting = deque(values)
    while waiting and len(found) < LOOKED_AT:
        value = waiting.popleft()
        if isinstance(value, dict):
            found.update(dict.fromkeys(str(key) for key in list(value)[:LOOKED_AT]))
            waiting.extend(list(value.values())[:LOOKED_AT])
        elif isinstance(value, list):
            waiting.extend(value[:3])  # the rows of a list are alike
    return list(found)[:LOOKED_AT]


def described(values: list[Any]) -> str:
    """Return a description of an unrecognised log: its keys, or the beginning of its text."""
    keys = keys_of(values)
    if keys:
        more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
        return f"its keys are {', '.join(repr(shortened(key)) for key in keys[:SHOWN])}{more}"
    return f"it begins with {shortened(str(values[0])[:BEGINNING])!r}" if values else "it holds no value"
