"""Compares values from the sandbox with the expected ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from graphkit.plugins.sandbox.returned_values import (
    DictValue,
    EnumValue,
    ObjectValue,
    SetValue,
    TextValue,
    TupleValue,
    UnusableResultError,
)
from graphkit.records.moments import moment

#: The most values that one comparison may visit.
_MOST_STEPS = 1_000_000

#: A result this close to an expected 0 differs by rounding. No other number is near enough to 0 to be it: 6.6e-34 is a
#: value that an answer must know.
_ROUNDING = 1e-12

#: The most elements of a set that are matched each with each, if sorting doesn't pair them.
_MOST_UNMATCHED = 200


def equal(expected: Any, value: Any, tolerance: float = 1e-6) -> bool:
    """Return whether a decoded value equals the JSON value ``expected``.

    - Booleans equal only booleans, null equals ``None``, texts equal texts (and dates, UUIDs, paths and ASCII bytes by
      their text).
    - Numbers compare as numbers. Unless both are whole, ``tolerance`` is a share of the larger; an expected 0 equals
      what rounding leaves of it, up to 1e-12.
    - A list equals a list or a tuple element by element, and a set of the same elements, each once, in any order.
    - An object equals a dict with the same keys (keys that aren't texts by their text), and an instance with the same
      public fields.
    - A member of an enumeration counts as its value. NaN equals nothing.

    Raise an UnusableResultError if the value is so entangled that comparing would take too long.
    """
    return _Comparison(tolerance).equal(expected, value)


@dataclass
class _Comparison:
    """One comparison, with a limit on its steps."""

    tolerance: float
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise UnusableResultError("the result is too entangled to be compared")

    def equal(self, expected: Any, value: Any) -> bool:
        self.step()
        while isinstance(value, EnumValue):
            value = value.value
        if expected is None or isinstance(expected, bool):
            return value is expected
        if isinstance(expected, int | float):
            return self.same_number(expected, value)
        if isinstance(expected, str):
            return _same_text(expected, value)
        if isinstance(expected, list):
            return self.same_items(expected, value)
        if isinstance(expected, dict):
            return self.same_fields(expected, value)
        return False

    def same_number(self, expected: int | float, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
            return False
        if isinstance(expected, int) and isinstance(value, int):
            return expected == value
        left, right = _as_float(expected), _as_float(value)
        if left is None or right is None:  # beyond floats
            return (right is None or not math.isnan(right)) and bool(expected == value)
        return math.isclose(left, right, rel_tol=self.tolerance, abs_tol=0.0 if left else _ROUNDING)

    def same_items(self, expected: list[Any], value: Any) -> bool:
        if isinstance(value, TupleValue):
            value = value.items
        elif isinstance(value, ObjectValue) and value.ordered:
            value = [item for _, item in value.fields]
        elif isinstance(value, SetValue):
            return len(expected) == len(value.items) and self.same_set(expected, value.items)
        if not isinstance(value, list) or len(expected) != len(value):
            return False
        return all(self.equal(left, right) for left, right in zip(expected, value, strict=True))

    def same_set(self, expected: list[Any], items: list[Any]) -> bool:
        """Match sorted elements pair by pair, and those of unequal pairs each with each."""
        ordered = not any(_holds_set(item) for item in items)
        left = sorted(expected, key=lambda item: self.rank(item, ordered))
        right = sorted(items, key=lambda item: self.rank(item, ordered))
        open_pairs = [pair for pair in zip(left, right, strict=True) if not self.equal(*pair)]
        if len(open_pairs) > _MOST_UNMATCHED:
            return False
        remaining = [item for _, item in open_pairs]
        for one, _ in open_pairs:
            found = next((number for number, item in enumerate(remaining) if self.equal(one, item)), None)
            if found is None:
                return False
            del remaining[found]
        return True

    def rank(self, value: Any, ordered: bool) -> tuple[Any, ...]:
        """Return the sort key of an element of a set; equal values have equal keys.

        Unless ``ordered``, the order of lists doesn't count, since a set within the set equals a list in any order.
        """
        self.step()
        while isinstance(value, EnumValue):
            value = value.value
        match value:
            case None:
                return (0,)
            case bool():
                return (1, value)
            case int() | float() | Decimal() | Fraction():
                number = _as_float(value)
                if number is None:  # beyond floats
                    number = math.inf if value > 0 else -math.inf
                return (2, 0.0 if math.isnan(number) else number)
            case str():
                return (3, value)
            case TextValue(text=text):
                return (3, text)
            case bytes():
                return (3, value.decode("latin-1"))
            case list() | SetValue() | TupleValue():
                ranks = [self.rank(item, ordered) for item in (value if isinstance(value, list) else value.items)]
                return (4, ranks if ordered else sorted(ranks))
            case dict():
                return (5, sorted((name, self.rank(item, ordered)) for name, item in value.items()))
            case DictValue(pairs=pairs):
                return (5, sorted((_key_text(key) or "", self.rank(item, ordered)) for key, item in pairs))
            case ObjectValue(fields=fields) if value.ordered:
                return (4, [self.rank(item, ordered) for _, item in fields])
            case ObjectValue(fields=fields):
                return (5, sorted((name, self.rank(item, ordered)) for name, item in fields))
        return (6,)

    def same_fields(self, expected: dict[str, Any], value: Any) -> bool:
        if isinstance(value, DictValue):
            pairs = [(_key_text(key), item) for key, item in value.pairs]
        elif isinstance(value, ObjectValue):
            pairs = list(value.fields)
        else:
            return False
        fields = dict(pairs)
        # Two keys with one text, such as 1 and "1", are ambiguous.
        if len(fields) != len(pairs) or fields.keys() != expected.keys():
            return False
        return all(self.equal(item, fields[name]) for name, item in expected.items())


def same_output(expected: str, printed: str) -> bool:
    """Return whether a program printed a text, whatever the line ends and the white space at ends of lines."""
    return _lines(expected) == _lines(printed)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.replace("\r\n", "\n").rstrip().split("\n")]


def _as_float(number: int | float | Decimal | Fraction) -> float | None:
    """Return a number as a float (an infinite float too), or None if it is out of range."""
    try:
        found = float(number)
    except (OverflowError, ValueError):  # ValueError: a signalling NaN
        return math.nan if isinstance(number, Decimal) and number.is_nan() else None
    return None if math.isinf(found) and not isinstance(number, float) else found


def _same_text(expected: str, value: Any) -> bool:
    if isinstance(value, str):
        return expected == value
    if isinstance(value, bytes):
        return expected.isascii() and expected.encode() == value
    if isinstance(value, TextValue):
        return expected == value.text or (value.type in _MOMENTS and _same_moment(expected, value.text))
    return False


_MOMENTS = ("datetime", "Date")


def _same_moment(one: str, other: str) -> bool:
    """Compare two times in any notation: with ``T`` or a space, with ``Z`` or an offset."""
    if len(one) <= len("2026-01-01") or len(one) > 50 or len(other) > 50:
        return False
    try:
        left, right = moment(one), moment(other)
    except (ValueError, OverflowError):
        return False
    return (left.tzinfo is None) == (right.tzinfo is None) and left == right


def _key_text(key: Any) -> str | None:
    """Return the text of a dict key in JSON, or None if it has none."""
    while isinstance(key, EnumValue):
        key = key.value
    match key:
        case str():
            return key
        case None:
            return "null"
        case bool():
            return "true" if key else "false"
        case int():
            # The largest whole number that Python writes in decimal has 4300 digits.
            return str(key) if key.bit_length() < 10_000 else None
        case float():
            return str(int(key)) if key.is_integer() and abs(key) < 2**53 else repr(key)
        case Decimal():
            return str(key)
        case TextValue(text=text):
            return text
        case bytes():
            return key.decode() if key.isascii() else None
    return None


def _holds_set(value: Any) -> bool:
    match value:
        case SetValue():
            return True
        case list() | TupleValue():
            parts = value if isinstance(value, list) else value.items
        case DictValue(pairs=parts) | ObjectValue(fields=parts):
            parts = [item for _, item in parts]
        case _:
            return False
    return any(map(_holds_set, parts))
