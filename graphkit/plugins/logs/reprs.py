"""The texts that ``repr`` gives of plain values and of the objects of Neo4j's driver, read without evaluating them.

``str(record)`` is in logs for which nobody chose a format: ``<Record a=<Node element_id='...' ...> n=1>``. Strings
in it are escaped, so that no text of a graph can pass for anything else.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Any, NoReturn

#: How deep values may lie within each other.
DEEPEST = 60

#: The longest text that is read as a value of plain types: the memory is 500 times its length.
LONGEST_PRINTED = 100_000


@dataclass(frozen=True, slots=True)
class Described:
    """``<Kind field=value ...>``, as the driver describes its objects, or ``Kind(field=value, ...)``, as classes do."""

    kind: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is only passed over: a vector, or a call without names such as ``neo4j.time.Date(2026, 11, 22)``."""

    text: str


class ReprError(ValueError):
    """A text that is no such description, or one that was cut."""


_SPACE = re.compile(r"\s*")
# Read a list of numbers at once: embeddings are the largest part of such texts.
_VECTOR = re.compile(r"\[[-+.,\s\deinfa]*\]")
_STRING = re.compile(r"""b?(?:'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)")""", re.DOTALL)
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][\w.]*")
_OTHER = re.compile(r"""[^()'"]+""")
_FIELD = re.compile(r"([^=<>]+)=")
_KEYWORD = re.compile(r"\(\s*[A-Za-z_]\w*=")
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"None": None, "True": True, "False": False}
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def parse_repr(text: str) -> Any:
    """Return the value that a text describes: plain values, :class:`Described` and :class:`Opaque`.

    >>> parse_repr("<Record id='a' n=None>")
    Described(kind='Record', fields={'id': 'a', 'n': None})
    """
    scanner = _Scanner(text)
    value = scanner.value(0)
    scanner.end()
    return value


def parse_fields(text: str) -> dict[str, Any]:
    """Return the fields that ``str`` gives of a pydantic model, without its name.

    >>> parse_fields("items=[Item(content='a', metadata=None)] metadata={}")
    {'items': [Described(kind='Item', fields={'content': 'a', 'metadata': None})], 'metadata': {}}
    """
    scanner = _Scanner(text)
    fields = scanner.fields(0, "")
    scanner.end()
    return fields


class _Scanner:
    """Reads from left to right, each character once or twice."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self) -> NoReturn:
        raise ReprError(f"unexpected text at character {self.at + 1}")

    def end(self) -> None:
        self.space()
        if self.at != len(self.text):
            self.fail()

    def space(self) -> None:
        if self.text[self.at : self.at + 1].isspace():
            match = _SPACE.match(self.text, self.at)
            assert match
            self.at = match.end()

    def took(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            self.fail()
        self.space()
        first = self.text[self.at : self.at + 1]
        if first == "<":
            return self.described(depth)
        if first == "[" and (vector := _VECTOR.match(self.text, self.at)):
            self.at = vector.end()
            return Opaque(vector[0]) if len(vector[0]) > 2 else []
        if first in _CLOSING and first:
            return self.collection(depth)
        if string := _STRING.match(self.text, self.at):
            self.at = string.end()
            return _unescaped(string[1] if string[1] is not None else string[2])
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return _number(number[0])
        return self.word(depth)

    def described(self, depth: int) -> Described:
        self.at += 1
        kind = _WORD.match(self.text, self.at)
        if kind is None:
            self.fail()
        self.at = kind.end()
        return Described(kind[0], self.fields(depth, ">"))

    def fields(self, depth: int, closing: str) -> dict[str, Any]:
        """Return fields up to what closes them, or the end; commas may stand between them."""
        fields: dict[str, Any] = {}
        while True:
            self.space()
            if self.took(closing) if closing else self.at == len(self.text):
                return fields
            name = _FIELD.match(self.text, self.at)
            if name is None:
                self.fail()
            self.at = name.end()
            fields[name[1].strip()] = self.value(depth + 1)
            if closing == ")" and not self.took(",") and not self.text.startswith(")", self.at):
                self.fail()

    def collection(self, depth: int) -> Any:
        closing = _CLOSING[self.text[self.at]]
        self.at += 1
        pairs: dict[Any, Any] = {}
        values: list[Any] = []
        while True:
            self.space()
            if self.took(closing):
                return pairs if closing == "}" and not values else values
            value = self.value(depth + 1)
            self.space()
            if closing == "}" and self.took(":"):
                pairs[value if isinstance(value, str | int | float | bool) else repr(value)] = self.value(depth + 1)
                self.space()
            else:
                values.append(value)
            if not self.took(",") and self.text[self.at : self.at + 1] != closing:
                self.fail()

    def word(self, depth: int) -> Any:
        start = self.at
        word = _WORD.match(self.text, start)
        if word is None:
            self.fail()
        self.at = word.end()
        if word[0] in _WORDS:
            return _WORDS[word[0]]
        if self.text[self.at : self.at + 1] != "(":
            self.fail()
        begin = self.at
        if _KEYWORD.match(self.text, begin):
            self.at += 1
            try:
                return Described(word[0], self.fields(depth, ")"))
            except ReprError:
                self.at = begin  # skip the unread rest of a call, such as a value of another library
        self.arguments()
        return Opaque(self.text[start : self.at])

    def arguments(self) -> None:
        """Pass over the arguments of a call, whatever they are."""
        opened = 0
        while True:
            if self.took("("):
                opened += 1
            elif self.took(")"):
                opened -= 1
            elif passed := _STRING.match(self.text, self.at) or _OTHER.match(self.text, self.at):
                self.at = passed.end()
            else:
                self.fail()
            if opened == 0:
                return


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        return _ESCAPED.get(escape[4], escape[4])
    try:
        return chr(int(code, 16))
    except (ValueError, OverflowError):
        raise ReprError(f"no character has the code {code}") from None


def printed(value: Any, longest: int = LONGEST_PRINTED) -> Any:
    """Return a value of plain types that Python printed, or None."""
    if not isinstance(value, str) or len(value) > longest:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # such as that of an unknown escape sequence
            return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
