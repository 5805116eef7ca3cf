"""Arguments of tool calls: which ones can be stored, and when two are equal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from graphkit.records.aliases import LARGEST

#: The deepest nesting of arguments.
DEEPEST = 32

_UNFIT = (
    f"arguments must be JSON, nested at most {DEEPEST} deep, with finite numbers, and integers of at most {LARGEST}"
)


def holdable(value: object, depth: int = DEEPEST) -> bool:
    """Return whether every file and database can hold some arguments, or a value in them.

    >>> holdable({"path": "a.py", "lines": [1, 2.5, None]}), holdable({"n": float("nan")}), holdable({"n": 2**63})
    (True, False, False)
    """
    if value is None or isinstance(value, str | bool):
        return True
    if isinstance(value, int):
        return abs(value) <= LARGEST
    if isinstance(value, float):
        return math.isfinite(value)
    if depth == 0:
        return False
    if isinstance(value, list | tuple):
        return all(holdable(one, depth - 1) for one in value)
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and holdable(one, depth - 1) for key, one in value.items())
    return False


def arguments_of_text(value: object) -> object:
    """Return the object in a JSON text, as chat completions write arguments; return other values unchanged.

    Raise ValueError if the text isn't JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else {}
    except (ValueError, RecursionError):
        raise ValueError("arguments must be a JSON object, or its text") from None


def checked_arguments(value: dict[str, Any]) -> dict[str, Any]:
    """Return arguments unchanged.

    Raise ValueError if they can't be stored.
    """
    if value and not holdable(value):
        raise ValueError(_UNFIT)
    return value


def canonical(value: object) -> str:
    """Return the same text for equal values, regardless of the order of keys; 1 equals 1.0 but not true.

    >>> canonical({"b": [1.0, True], "a": None}), canonical({"a": None, "b": [1, 1]})
    ('{"a": null, "b": [1, true]}', '{"a": null, "b": [1, 1]}')
    """
    return json.dumps(_plain_numbers(value), sort_keys=True)


def _plain_numbers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_plain_numbers(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain_numbers(one) for key, one in value.items()}
    return value
