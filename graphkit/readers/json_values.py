"""Values of JSON as what they may be in a log: ids, texts, numbers and objects."""

from __future__ import annotations

import math
import re
from typing import Any

#: An id that was drawn at random.
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)

EMPTY = "an empty list stands where others have what was found: nothing was"


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


def object_of(value: Any) -> dict[str, Any]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}
