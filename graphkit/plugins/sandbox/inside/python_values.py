"""Encodes values that leave the sandbox; graphkit/plugins/sandbox/returned_values.py describes the form."""

from __future__ import annotations

import sys

from python_common import home_of, text_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

#: As in graphkit/plugins/sandbox/returned_values.py.
DEEPEST = 100


class Endless:
    """A value beyond the limit, such as the output of a program."""


class TooLargeError(Exception):
    """A value is larger than the limit."""


def encode(value: Any, limit: int) -> Any:
    """Encode a value; raise a TooLargeError if it is larger than the limit."""
    return Encoder(limit).encode(value, 0)


class Encoder:
    """Encodes values. It calls as few of a value's own methods as possible, since they may do anything."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.open: set[int] = set()

    def spend(self, amount: int) -> None:
        """Count an amount against the limit."""
        self.left -= amount
        if self.left < 0:
            raise TooLargeError

    def text(self, text: str) -> str:
        """Count a text, and return it."""
        # JSON writes a character that isn't plain as up to twelve.
        self.spend(len(text) + 2 if text.isascii() and text.isprintable() else 12 * len(text) + 2)
        return text

    def encode(self, value: Any, depth: int) -> Any:
        """Return a value in the form that JSON can hold."""
        kind = type(value)
        if value is None or kind is bool:
            self.spend(5)
            return value
        if kind is Endless:
            raise TooLargeError
        if issubclass(kind, int) and not is_member(kind):
            value = int.__int__(value)
            self.spend(value.bit_length() // 4 + 2)
            return value if -(2**53) <= value <= 2**53 else {"integer": format(value, "x")}
        if issubclass(kind, float) and not is_member(kind):
            value = float.__float__(value)
            self.spend(26)
            if value != value or value in (float("inf"), float("-inf")):
                return {"float": float.__repr__(value)}
            return value
        if issubclass(kind, str) and not is_member(kind):
            return self.text(str.__str__(value))
        self.spend(10)
        if depth >= DEEPEST or id(value) in self.open:
            return {"other": [type_name(kind), "..."]}
        self.open.add(id(value))
        try:
            return self.composite(value, kind, depth + 1)
        finally:
            self.open.discard(id(value))

    def items(self, values: Iterable[Any], depth: int) -> list[Any]:
        """Encode several values."""
        return [self.encode(item, depth) for item in values]

    def pairs(self, pairs: Iterable[tuple[Any, Any]], depth: int) -> list[Any]:
        """Encode pairs of values."""
        return [[self.encode(key, depth), self.encode(item, depth)] for key, item in pairs]

    def composite(self, value: Any, kind: Any, depth: int) -> Any:
        """Encode a value that is neither a number nor a text."""
        if is_member(kind):
            name = self.text(type_name(kind) + "." + str(value._name_))
            return {"enum": [name, self.encode(value._value_, depth)]}
        if issubclass(kind, list):
            return self.items(list.__iter__(value), depth)
        if issubclass(kind, tuple):
            names = kind.__dict__.get("_fields") or getattr(kind, "_fields", None)
            if isinstance(names, tuple) and len(names) == tuple.__len__(value):
                fields = [
                    [self.text(str(name)), self.encode(item, depth)]
                    for name, item in zip(names, tuple.__iter__(value))  # noqa: B905 - their lengths are equal, see above
                ]
                return {"named": [type_name(kind), fields]}
            return {"tuple": self.items(tuple.__iter__(value), depth)}
        if issubclass(kind, dict):
            return {"dict": self.pairs(dict.items(value), depth)}
        if issubclass(kind, set):
            return {"set": self.items(set.__iter__(value), depth)}
        if issubclass(kind, frozenset):
            return {"set": self.items(frozenset.__iter__(value), depth)}
        if issubclass(kind, bytes | bytearray | memoryview):
            size = value.nbytes if kind is memoryview else len(value)
            self.spend(2 * size)
            return {"bytes": bytes(value).hex()}
        home = home_of(kind)
        written = self.of_library(value, kind, home, depth)
        if written is not None:
            return written
        if hasattr(kind, "__next__") or (hasattr(kind, "__iter__") and home in _PLAIN_HOMES):
            return self.items(value, depth)
        return self.instance(value, kind, depth)

    def of_library(self, value: Any, kind: Any, home: str, depth: int) -> Any:
        """Encode a value of the standard library; return None for any other."""
        name = kind.__name__
        if home == "decimal" and name == "Decimal":
            text = str(value)
            return {"decimal": self.text(text)} if len(text) <= 5000 else None
        if home == "fractions" and name == "Fraction":
            self.spend((value.numerator.bit_length() + value.denominator.bit_length()) // 4)
            if max(abs(value.numerator), value.denominator).bit_length() > 16_000:
                return None
            return {"fraction": [format(value.numerator, "x"), format(value.denominator, "x")]}
        if home == "datetime" and name in ("datetime", "date", "time"):
            return {"text": [name, self.text(value.isoformat())]}
        if (home == "uuid" and name == "UUID") or (home.startswith("pathlib") and hasattr(kind, "__fspath__")):
            return {"text": [name, self.text(str(value))]}
        if home == "datetime" and name == "timedelta":
            return {"text": [name, self.text(str(value))]}
        if kind is type(type.__dict__):
            return {"dict": self.pairs(dict(value).items(), depth)}
        return None

    def instance(self, value: Any, kind: Any, depth: int) -> Any:
        """Encode an instance with its public fields."""
        fields: dict[str, Any] = {}
        if not issubclass(kind, type | type(sys)) and kind.__name__ not in _NEVER_FIELDS:
            fields = fields_of(value, kind, "_")
        if not fields and not hasattr(kind, "__dataclass_fields__"):
            return {"other": [type_name(kind), self.text(text_of(value, repr))]}
        named = [[self.text(name), self.encode(item, depth)] for name, item in fields.items()]
        return {"object": [type_name(kind), named]}


def fields_of(value: Any, kind: Any, hidden: str) -> dict[str, Any]:
    """Return the fields of an instance, from slots and its dict, whose names don't begin with ``hidden``."""
    found: dict[str, Any] = {}
    for one in kind.__mro__[::-1]:
        slots = one.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            try:
                found[name] = object.__getattribute__(value, name)
            except (AttributeError, TypeError):
                pass
    try:
        found.update(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        pass
    return {name: item for name, item in found.items() if isinstance(name, str) and not name.startswith(hidden)}


#: Modules whose collections are written as lists: ranges, views of dicts, deques.
_PLAIN_HOMES = ("builtins", "collections", "itertools", "array")
_NEVER_FIELDS = ("function", "method", "builtin_function_or_method")


def is_member(kind: type) -> bool:
    """Return whether the values of a type are members of an enumeration."""
    enum = sys.modules.get("enum")
    return enum is not None and issubclass(kind, getattr(enum, "Enum", ()))
