"""What a tool was given: JSON that every file and both databases can hold, and when two values are equal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from graphkit.records.aliases import LARGEST

#: How deep the arguments of a call may be nested.
DEEPEST = 32

_UNFIT = (
    f"arguments must be JSON, nested at most {DEEPEST} deep, with finite numbers, and whole ones of at most {LARGEST}"
)


def holdable(value: object, depth: int = DEEPEST) -> bool:
    """Tell whether arguments, or a value among them, can be held.

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
    """Return the object whose JSON a text is, as chat completions have arguments; anything else as it is.

    Raises
    ------
    ValueError
        The text is no JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else {}
    except (ValueError, RecursionError):
        raise ValueError("arguments must be a JSON object, or its text") from None


def checked_arguments(value: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as they are.

    Raises
    ------
    ValueError
        They can't be held.
    """
    if value and not holdable(value):
        raise ValueError(_UNFIT)
    return value


def canonical(value: object) -> str:
    """Return a text that equal values share: objects whatever the order of their keys, 1 as 1.0, and true not as 1.

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
