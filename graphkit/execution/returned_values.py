"""The values that come out of the sandbox: how they are written, and read.

A value comes out as JSON. What JSON has is written as it is: null, true and false, finite numbers (whole ones up to
2 ** 53), texts, and lists. Everything else is an object with one field, whose name says what it is:

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
``{"text": [type, text]}``          what is compared as its text: times, dates, UUIDs, paths
``{"other": [type, text]}``         whatever can't be compared; the text is for people
==================================  ==================================================================================

For an assertion there are further forms, which ``inside/python_crossing.py`` describes; here they are only shown.

Python and JavaScript write the same; ``undefined`` is null, a ``BigInt`` a whole number. What is deeper than
:data:`DEEPEST` is written as ``other``.

All of it is written by code that nobody trusts: it is read within bounds, and what breaks the rules is refused with
:class:`UnusableResultError`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

#: How deep a value may be nested; inside the sandbox the same number holds.
DEEPEST = 100

#: The longest text of a decimal or of a type's name.
_LONGEST_PART = 5_000


class UnusableResultError(ValueError):
    """What came out of the sandbox is malformed, too large, or too entangled to be compared."""


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
    """What is compared as its text, such as a date."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherValue:
    """What equals nothing."""

    type: str
    text: str


def parsed(data: bytes) -> Any:
    """Read JSON that comes from the sandbox; deep nesting, doubled names and endless numbers are refused."""
    try:
        return json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise UnusableResultError("the result is nested too deeply") from None
    except ValueError as error:
        # Malformed JSON or UTF-8, and whole numbers that are longer than Python reads.
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
    """Return the value that JSON of the form above stands for.

    Raises
    ------
    UnusableResultError
        It isn't of that form.
    """
    if depth > DEEPEST + 1:
        raise UnusableResultError("the result is nested too deeply")
    if encoded is None or isinstance(encoded, bool | int | float | str):
        return encoded
    if isinstance(encoded, list):
        return [decoded(item, depth + 1) for item in encoded]
    if not isinstance(encoded, dict) or len(encoded) != 1:
        raise UnusableResultError("the result holds an object that isn't of the agreed form")
    ((tag, content),) = encoded.items()
    try:
        decode = _DECODERS[tag]
    except KeyError:
        raise UnusableResultError("the result holds a value of an unknown kind") from None
    return decode(content, depth + 1)


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


_HEXADECIMAL = re.compile(r"-?[0-9a-f]+\Z")


def _integer(content: Any, depth: int) -> int:
    text = _text(content, "integer")
    if not _HEXADECIMAL.match(text):
        raise _refuse("integer")
    return int(text, 16)


def _float(content: Any, depth: int) -> float:
    if content not in ("nan", "inf", "-inf"):
        raise _refuse("float")
    return float(content)


def _decimal(content: Any, depth: int) -> Decimal:
    try:
        return Decimal(_text(content, "decimal", _LONGEST_PART))
    except InvalidOperation:
        raise _refuse("decimal") from None


def _fraction(content: Any, depth: int) -> Fraction:
    numerator, denominator = (
        _integer(_text(part, "fraction", _LONGEST_PART), depth) for part in _list(content, "fraction", 2)
    )
    if denominator <= 0:
        raise _refuse("fraction")
    return Fraction(numerator, denominator)


def _bytes(content: Any, depth: int) -> bytes:
    try:
        return bytes.fromhex(_text(content, "bytes"))
    except ValueError:
        raise _refuse("bytes") from None


def _tuple(content: Any, depth: int) -> TupleValue:
    return TupleValue([decoded(item, depth) for item in _list(content, "tuple")])


def _set(content: Any, depth: int) -> SetValue:
    return SetValue([decoded(item, depth) for item in _list(content, "set")])


def _dict(content: Any, depth: int) -> DictValue:
    pairs = [_list(pair, "dict", 2) for pair in _list(content, "dict")]
    return DictValue([(decoded(key, depth), decoded(value, depth)) for key, value in pairs])


def _instance(tag: str) -> Callable[[Any, int], ObjectValue]:
    def decode(content: Any, depth: int) -> ObjectValue:
        name, fields = _list(content, tag, 2)
        pairs = [_list(pair, tag, 2) for pair in _list(fields, tag)]
        return ObjectValue(
            _text(name, tag, _LONGEST_PART),
            [(_text(field, tag), decoded(value, depth)) for field, value in pairs],
            ordered=tag == "named",
        )

    return decode


def _enum(content: Any, depth: int) -> EnumValue:
    name, value = _list(content, "enum", 2)
    return EnumValue(_text(name, "enum"), decoded(value, depth))


def _typed(tag: str, make: Callable[[str, str], Any]) -> Callable[[Any, int], Any]:
    def decode(content: Any, depth: int) -> Any:
        name, text = _list(content, tag, 2)
        return make(_text(name, tag, _LONGEST_PART), _text(text, tag))

    return decode


def _known(content: Any, depth: int) -> OtherValue:
    name, arguments = _list(content, "known", 2)
    return OtherValue(_text(name, "known", _LONGEST_PART), f"{name}({_inline(_list(arguments, 'known'), depth)})")


def _inline(arguments: list[Any], depth: int) -> str:
    values = [decoded(one, depth) for one in arguments]
    return ", ".join(repr(value)[:_LONGEST_PART] for value in values)


def _global(content: Any, depth: int) -> OtherValue:
    parts = [_text(part, "global", _LONGEST_PART) for part in _list(content, "global", 2)]
    return OtherValue("global", ".".join(part for part in parts if part))


def _class_names(content: Any, tag: str) -> list[tuple[str, str]]:
    pairs = [_list(pair, tag, 2) for pair in _list(content, tag)]
    if not pairs:
        raise _refuse(tag)
    return [(_text(module, tag, _LONGEST_PART), _text(name, tag, _LONGEST_PART)) for module, name in pairs]


def _number(content: Any, tag: str) -> int:
    if isinstance(content, bool) or not isinstance(content, int) or content < 0:
        raise _refuse(tag)
    return content


def _class(content: Any, depth: int) -> OtherValue:
    number, classes = _list(content, "class", 2)
    _number(number, "class")
    return OtherValue("class", _class_names(classes, "class")[0][1])


def _fields(content: Any, tag: str, depth: int) -> list[tuple[str, Any]]:
    pairs = [_list(pair, tag, 2) for pair in _list(content, tag)]
    return [(_text(name, tag), decoded(value, depth)) for name, value in pairs]


def _error(content: Any, depth: int) -> ObjectValue:
    number, classes, arguments, fields, text = _list(content, "error", 5)
    _number(number, "error")
    name = _class_names(classes, "error")[0][1]
    for one in _list(arguments, "error"):
        decoded(one, depth)
    return ObjectValue(name, [("message", _text(text, "error")), *_fields(fields, "error", depth)])


def _made(content: Any, depth: int) -> Any:
    module, name, fields = _list(content, "made", 3)
    _text(module, "made", _LONGEST_PART)
    if isinstance(fields, str):
        return OtherValue(_text(name, "made", _LONGEST_PART), f"{name}.{fields}")
    return ObjectValue(_text(name, "made", _LONGEST_PART), _fields(fields, "made", depth))


def _held(content: Any, depth: int) -> Any:
    number, owner, snapshot, traits = _list(content, "held", 4)
    _number(number, "held")
    _class_names([owner], "held")
    for trait in _list(traits, "held"):
        _text(trait, "held")
    return decoded(snapshot, depth)


_DECODERS: dict[str, Callable[[Any, int], Any]] = {
    "integer": _integer,
    "float": _float,
    "decimal": _decimal,
    "fraction": _fraction,
    "bytes": _bytes,
    "tuple": _tuple,
    "set": _set,
    "dict": _dict,
    "named": _instance("named"),
    "object": _instance("object"),
    "enum": _enum,
    "text": _typed("text", TextValue),
    "other": _typed("other", OtherValue),
    "known": _known,
    "global": _global,
    "class": _class,
    "error": _error,
    "made": _made,
    "held": _held,
}
