"""The form of values that leave the sandbox, and their decoder.

A value is JSON. Null, true and false, finite numbers (whole ones up to 2 ** 53), texts and lists stand for themselves.
Everything else is an object with one field, whose name is the kind of the value:

==================================  ==================================================================================
``{"integer": "-1f"}``              a larger whole number, in hexadecimal
``{"float": "nan"}``                also ``inf`` and ``-inf``
``{"decimal": "19.90"}``            ``Decimal``
``{"fraction": ["1", "3"]}``        ``Fraction``, both parts in hexadecimal
``{"bytes": "00ff"}``               bytes, in hexadecimal; typed arrays of bytes
``{"tuple": [...]}``                a tuple
``{"set": [...]}``                  a set, in any order
``{"dict": [[key, value], ...]}``   a dict, a plain object or a ``Map``
``{"named": [type, [[name, value], ...]]}``   a named tuple
``{"object": [type, [[name, value], ...]]}``  an instance with its public fields
``{"enum": [name, value]}``         a member of an enumeration
``{"text": [type, text]}``          a value that is compared as its text: times, dates, UUIDs, paths
``{"other": [type, text]}``         a value that can't be compared; the text is for people
==================================  ==================================================================================

For an assertion there are further forms, which ``inside/python_crossing.py`` describes; here they are only shown.

Python and JavaScript write the same forms; ``undefined`` is null, a ``BigInt`` a whole number. A value nested deeper
than :data:`DEEPEST` is ``other``.

Untrusted code writes all of it. So the decoder reads it within bounds, and raises an :class:`UnusableResultError` for
anything that breaks these rules.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from typing import Any

#: How deep a value may be nested; the scripts inside the sandbox have the same number.
DEEPEST = 100

#: The longest text of a decimal or of a type's name.
_LONGEST_PART = 5_000


class UnusableResultError(ValueError):
    """A value from the sandbox that is malformed, too large, or too entangled to compare."""


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple."""

    items: list[Any]


@dataclass(frozen=True, slots=True)
class SetValue:
    """A set."""

    items: list[Any]


@dataclass(frozen=True, slots=True)
class DictValue:
    """A dict, whose keys may be anything."""

    pairs: list[tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """An instance with its fields; those of a named tuple (``ordered``) have positions, too."""

    type: str
    fields: list[tuple[str, Any]]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A member of an enumeration; its name is shown, its value compared."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class TextValue:
    """A value that is compared as its text, such as a date."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherValue:
    """A value that equals nothing."""

    type: str
    text: str


def parsed(data: bytes) -> Any:
    """Parse JSON from the sandbox; refuse deep nesting, repeated names and infinite numbers."""
    try:
        return json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise UnusableResultError("the result is nested too deeply") from None
    except ValueError as error:
        # Malformed JSON or UTF-8, or whole numbers that are too long for Python.
        raise UnusableResultError(f"the result isn't JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnusableResultError("the result names a field twice")
    return found


def _no_constant(name: str) -> Any:
    raise UnusableResultError(f"the result holds {name}")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise UnusableResultError("the result holds a number that is too large")
    return number


def decoded(encoded: Any, depth: int = 0) -> Any:
    """Return the value of JSON in the form above; raise an UnusableResultError if it has another form."""
    if depth > DEEPEST + 1:
        raise UnusableResultError("the result is nested too deeply")
    if encoded is None or isinstance(encoded, bool | int | float | str):
        return encoded
    if isinstance(encoded, list):
        return [decoded(item, depth + 1) for item in encoded]
    if not isinstance(encoded, dict) or len(encoded) != 1:
        raise UnusableResultError("the result holds an object that isn't of the agreed form")
    ((tag, content),) = encoded.items()
    if tag not in _FORMS:
        raise UnusableResultError("the result holds a value of an unknown kind")
    parts, make = _FORMS[tag]
    if isinstance(parts, str):
        return make(_part(parts, content, tag, depth + 1))
    contents = _list(content, tag, len(parts))
    return make(*(_part(part, one, tag, depth + 1) for part, one in zip(parts, contents, strict=True)))


def _refuse(tag: str) -> UnusableResultError:
    return UnusableResultError(f"the result holds a {tag} that isn't written as one")


def _text(content: Any, tag: str, longest: int | None = None) -> str:
    if not isinstance(content, str) or (longest is not None and len(content) > longest):
        raise _refuse(tag)
    return content


def _list(content: Any, tag: str, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or (length is not None and len(content) != length):
        raise _refuse(tag)
    return content


def _pairs(content: Any, tag: str) -> list[list[Any]]:
    return [_list(pair, tag, 2) for pair in _list(content, tag)]


_HEXADECIMAL = re.compile(r"-?[0-9a-f]+\Z")


def _integer(text: str, tag: str) -> int:
    if not _HEXADECIMAL.match(text):
        raise _refuse(tag)
    return int(text, 16)


def _part(part: str, content: Any, tag: str, depth: int) -> Any:
    """Check and decode one part of a value, of a kind that :data:`_FORMS` names."""
    match part:
        case "name":
            return _text(content, tag, _LONGEST_PART)
        case "text":
            return _text(content, tag)
        case "texts":
            return [_text(one, tag) for one in _list(content, tag)]
        case "value":
            return decoded(content, depth)
        case "values":
            return [decoded(one, depth) for one in _list(content, tag)]
        case "pairs":
            return [(decoded(key, depth), decoded(value, depth)) for key, value in _pairs(content, tag)]
        case "fields":
            return [(_text(name, tag), decoded(value, depth)) for name, value in _pairs(content, tag)]
        case "member or fields":
            kind = "text" if isinstance(content, str) else "fields"
            return _part(kind, content, tag, depth)
        case "integer":
            return _integer(_text(content, tag), tag)
        case "number":
            if isinstance(content, bool) or not isinstance(content, int) or content < 0:
                raise _refuse(tag)
            return content
        case "class":
            module, name = _list(content, tag, 2)
            return _text(module, tag, _LONGEST_PART), _text(name, tag, _LONGEST_PART)
        case "classes":
            classes = [_part("class", one, tag, depth) for one in _list(content, tag)]
            if not classes:
                raise _refuse(tag)
            return classes
    raise AssertionError(part)


def _float(text: str) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise _refuse("float")
    return float(text)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise _refuse("decimal") from None


def _fraction(numerator: str, denominator: str) -> Fraction:
    above, below = _integer(numerator, "fraction"), _integer(denominator, "fraction")
    if below <= 0:
        raise _refuse("fraction")
    return Fraction(above, below)


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise _refuse("bytes") from None


def _made(module: str, name: str, fields: Any) -> Any:
    return OtherValue(name, f"{name}.{fields}") if isinstance(fields, str) else ObjectValue(name, fields)


#: Each kind of value with its parts (several stand in a list) and the function that makes it from them.
_FORMS: dict[str, tuple[str | tuple[str, ...], Callable[..., Any]]] = {
    "integer": ("integer", int),
    "float": ("text", _float),
    "decimal": ("name", _decimal),
    "fraction": (("name", "name"), _fraction),
    "bytes": ("text", _bytes),
    "tuple": ("values", TupleValue),
    "set": ("values", SetValue),
    "dict": ("pairs", DictValue),
    "named": (("name", "fields"), partial(ObjectValue, ordered=True)),
    "object": (("name", "fields"), ObjectValue),
    "enum": (("text", "value"), EnumValue),
    "text": (("name", "text"), TextValue),
    "other": (("name", "text"), OtherValue),
    "known": (
        ("name", "values"),
        lambda name, values: OtherValue(name, f"{name}({', '.join(repr(one)[:_LONGEST_PART] for one in values)})"),
    ),
    "global": (("name", "name"), lambda *parts: OtherValue("global", ".".join(filter(None, parts)))),
    "class": (("number", "classes"), lambda _, classes: OtherValue("class", classes[0][1])),
    "error": (
        ("number", "classes", "values", "fields", "text"),
        lambda _, classes, values, fields, text: ObjectValue(classes[0][1], [("message", text), *fields]),
    ),
    "made": (("name", "name", "member or fields"), _made),
    "held": (("number", "class", "value", "texts"), lambda number, owner, snapshot, traits: snapshot),
}
