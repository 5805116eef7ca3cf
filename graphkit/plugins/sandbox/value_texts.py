"""Texts of values from the sandbox, in the notation of their language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from graphkit.plugins.sandbox.returned_values import (
    DictValue,
    EnumValue,
    ObjectValue,
    OtherValue,
    SetValue,
    TextValue,
    TupleValue,
)

#: The longest text that :func:`shown` returns.
LONGEST_SHOWN = 200

_WORDS = {
    "python": {None: "None", True: "True", False: "False"},
    "javascript": {None: "null", True: "true", False: "false"},
}


def shown(value: Any, language: str = "python") -> str:
    """Return a decoded value, or an expected one, in the notation of a language; shortened.

    >>> shown(TupleValue([1, None])), shown({"paid": True}, "javascript")
    ('(1, None)', '{"paid": true}')
    """
    show = _Showing(language)
    show.add(value)
    text = "".join(show.parts)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


class _Showing:
    """A text of a value, written until it is long enough."""

    def __init__(self, language: str) -> None:
        self.python = language == "python"
        self.words = _WORDS["python" if self.python else "javascript"]
        self.left = LONGEST_SHOWN + 1
        self.parts: list[str] = []

    def write(self, text: str) -> None:
        # Escape characters that a terminal or a page wouldn't show, such as half of a surrogate pair.
        text = "".join(one if one.isprintable() else repr(one)[1:-1] for one in text[: self.left])
        self.parts.append(text)
        self.left -= len(text)

    def add(self, value: Any) -> None:
        if self.left <= 0:
            return
        match value:
            case None | bool():
                self.write(self.words[value])
            case int():
                self.write(
                    str(value) if value.bit_length() < 10_000 else f"a whole number of {value.bit_length()} bits"
                )
            case float() if not self.python:
                self.write({"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value)))
            case str():
                cut = value[: self.left]
                self.write(repr(cut) if self.python else json.dumps(cut, ensure_ascii=False))
            case bytes():
                self.write(repr(value[: self.left]))
            case list():
                self.items("[", value, "]")
            case TupleValue(items=items):
                self.items("(", items, ",)" if len(items) == 1 else ")")
            case SetValue(items=[]) if self.python:
                self.write("set()")
            case SetValue(items=items):
                self.items("{" if self.python else "Set {", items, "}")
            case dict():
                self.pairs("{", [(name, item) for name, item in value.items()], ": ", "}")
            case DictValue(pairs=pairs):
                self.pairs("{", pairs, ": ", "}")
            case ObjectValue(type=name, fields=fields) if self.python:
                self.pairs(f"{name}(", [(OtherValue("", field), item) for field, item in fields], "=", ")")
            case ObjectValue(type=name, fields=fields):
                self.pairs(f"{name} {{", [(OtherValue("", field), item) for field, item in fields], ": ", "}")
            case EnumValue(name=name):
                self.write(name)
            case TextValue(type=name, text=text):
                self.write(f"{name}({text[: self.left]!r})")
            case OtherValue(text=text):
                self.write(text)
            case _:
                self.write(repr(value))

    def items(self, opening: str, items: Sequence[Any], closing: str) -> None:
        self.pairs(opening, [(item, None) for item in items], None, closing)

    def pairs(self, opening: str, pairs: Sequence[tuple[Any, Any]], between: str | None, closing: str) -> None:
        """Write pairs; without ``between`` only the first of each."""
        self.write(opening)
        for number, (key, item) in enumerate(pairs):
            if self.left <= 0:
                return
            if number:
                self.write(", ")
            self.add(key)
            if between is not None:
                self.write(between)
                self.add(item)
        self.write(closing)
