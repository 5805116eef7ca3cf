"""The language of filters, such as ``EdgeRecall < 0.5 and category == "data flow"``, for questions of a run.

``graphkit/report/templates/filter_expression.js`` reads the same language in the page; ``tests/filter_cases.json``
holds both to the same results and errors. Python's own grammar doesn't serve: ``contains``, ``nDCG@10`` and names in
backquotes aren't Python, and the page has to name the same places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, NoReturn

from graphkit.errors import InputError, did_you_mean

#: What a name stands for: a number, text, or a flag that is true or false; or which other reader knows it.
NameKind = Literal["number", "text", "flag", "page", "keep", "result"]
NUMBER: Final = "number"
TEXT: Final = "text"
FLAG: Final = "flag"
PAGE: Final = "page"

#: Who else knows a name of these kinds.
ELSEWHERE: Mapping[str, str] = {
    "page": "known in the page only",
    "keep": "known to --keep only",
    "result": "known once answers are scored",
}

#: The value of a name for a question in one run; None if it isn't scored or empty.
Value = float | str | bool | None

#: Returns the value of a name.
Getter = Callable[[str], Value]

#: How deeply parentheses and ``not`` may nest, and how many characters a filter may have.
DEEPEST = 50
LONGEST = 2000

#: Characters up to which an error shows a filter, with a caret at the place.
SHOWN = 100

_WORDS = ("and", "or", "not", "any", "in", "contains", "none")
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "number": ("<", "<=", ">", ">=", "==", "!=", "in", "not in"),
    "text": ("==", "!=", "in", "not in", "contains"),
}
#: How others write what is a word or a sign here.
_WRITTEN = {"=": "==", "&&": "and", "&": "and", "||": "or", "|": "or", "!": "not", "<>": "!="}

_LETTER = r"A-Za-z0-9_.:/\u00a1-\U0010ffff-"
# Compiled when a filter is read: that takes as long as scoring a small run.
_NAME = rf"[A-Za-z_\u00a1-\U0010ffff][{_LETTER}]*(?:\([^()]*\))?(?:@[A-Za-z0-9_]+)?"
_TOKEN = rf"""[ \t\r\n\u00a0]*(?:
    (?P<word>(?:{"|".join(_WORDS)})(?![@{_LETTER}]))
    |(?P<number>-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.]))
    |(?P<name>{_NAME})
    |`(?P<backquoted>[^`]+)`
    |(?P<quote>["'])(?P<text>(?:\\["'\\]|\\(?!["'\\])|(?!(?P=quote))[^\\])*)(?P=quote)
    |(?P<sign><=|>=|==|!=|<>|&&|\|\||[<>=!&|(),])
    |(?P<end>\Z))"""


class FilterError(InputError):
    """A filter that can't be read; ``problem`` says why, and ``at`` is the place in its text."""

    def __init__(
        self, problem: str, text: str, at: int, *, where: str | None = None, remedy: str | None = None
    ) -> None:
        self.problem, self.at = problem, at
        shown = (text, " " * at + "^") if text.isprintable() and len(text) <= SHOWN else ()
        what = f"{problem} (character {at + 1} of the filter)"
        super().__init__(what, where=where, remedy=remedy, details=shown)


class _PlacedError(Exception):
    def __init__(self, problem: str, at: int) -> None:
        self.problem, self.at = problem, at


class _FilterToken(NamedTuple):
    kind: str
    text: str
    at: int
    value: float | str = ""


@dataclass(frozen=True, slots=True)
class _FlagName:
    name: str
    at: int
    end: int

    def held(self, own: Getter, runs: Sequence[Getter]) -> bool | None:
        return own(self.name) is True


@dataclass(frozen=True, slots=True)
class _ComparedName:
    name: str
    at: int
    end: int
    sign: str
    sign_at: int
    values: tuple[tuple[float | str | None, int], ...]

    def held(self, own: Getter, runs: Sequence[Getter]) -> bool | None:
        value, wanted = own(self.name), self.values[0][0]
        if wanted is None:
            return (value is None) == (self.sign == "==")
        if value is None:
            return None
        if isinstance(value, str):
            if self.sign == "contains":
                return str(wanted).lower() in value.lower()
        elif isinstance(wanted, float) and self.sign in ("<", "<=", ">", ">="):
            least = value < wanted or (self.sign in ("<=", ">=") and value == wanted)
            return least if self.sign in ("<", "<=") else value > wanted or (self.sign == ">=" and value == wanted)
        return any(value == one for one, _ in self.values) != (self.sign in ("!=", "not in"))


@dataclass(frozen=True, slots=True)
class _JoinedParts:
    """Parts joined by ``and`` or ``or``."""

    word: str
    parts: tuple[_Part, ...]

    def held(self, own: Getter, runs: Sequence[Getter]) -> bool | None:
        truths = [part.held(own, runs) for part in self.parts]
        decisive = self.word == "or"
        return decisive if decisive in truths else None if None in truths else not decisive


@dataclass(frozen=True, slots=True)
class _NegatedPart:
    part: _Part

    def held(self, own: Getter, runs: Sequence[Getter]) -> bool | None:
        held = self.part.held(own, runs)
        return None if held is None else not held


@dataclass(frozen=True, slots=True)
class _AnyRun:
    part: _Part
    at: int

    def held(self, own: Getter, runs: Sequence[Getter]) -> bool | None:
        truths = [self.part.held(one, runs) for one in runs]
        return True if True in truths else None if None in truths else False


_Part = _FlagName | _ComparedName | _JoinedParts | _NegatedPart | _AnyRun


@dataclass(frozen=True, slots=True)
class FilterExpression:
    """A filter whose grammar is right; ``str`` is its text. What its names stand for, :meth:`bound` decides.

    A comparison with a value that is missing (not scored, or an empty field) is neither true nor false, nor is its
    negation: ``EdgeRecall < 0.5`` and ``not EdgeRecall < 0.5`` both leave out a question that isn't scored, since
    unscored is never zero. ``EdgeRecall == none`` selects these.
    """

    text: str
    part: _Part

    @classmethod
    def parse(cls, text: str) -> FilterExpression:
        """Read a filter.

        Raises
        ------
        FilterError
            It isn't one; the error says what is wrong, and where.
        """
        try:
            return cls(text, _FilterReader(text).whole())
        except _PlacedError as error:
            raise FilterError(error.problem, text, error.at) from None

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> dict[str, None]:
        """The names that it holds as they are written, each once."""
        return {part.name: None for part in _leaves(self.part)}

    @property
    def compared_with_numbers(self) -> tuple[str, ...]:
        """The names that it compares with numbers alone, or with none."""
        found = (part for part in _leaves(self.part) if isinstance(part, _ComparedName))
        return tuple(one.name for one in found if not any(isinstance(value, str) for value, _ in one.values))

    @property
    def asks_other_runs(self) -> bool:
        """Whether ``any(...)`` asks other runs of the question, too."""
        return any(isinstance(part, _AnyRun) for part in _every(self.part))

    def bound(
        self, kinds: Mapping[str, NameKind], values: Mapping[str, Sequence[str]] | None = None
    ) -> FilterExpression:
        """Return the filter with its names as they are known, if these are what its comparisons need.

        Parameters
        ----------
        values
            The values of each text that can't have others.

        Raises
        ------
        FilterError
            A name isn't known (the closest one is suggested), or is compared with what it can't be.
        """
        try:
            renames = {part: _known_as(part, kinds) for part in _leaves(self.part)}
            for part, name in renames.items():
                _check(part, name, kinds[name])
                _check_values(part, name, (values or {}).get(name, ()))
        except _PlacedError as error:
            raise FilterError(error.problem, self.text, error.at) from None
        return self.renamed(lambda name: next(new for part, new in renames.items() if part.name == name))

    def renamed(self, rename: Callable[[str], str]) -> FilterExpression:
        """Return the filter with other names, otherwise as it is written."""
        text, end = "", 0
        for part in _leaves(self.part):
            new = rename(part.name)
            text += self.text[end : part.at] + (self.text[part.at : part.end] if new == part.name else written(new))
            end = part.end
        return FilterExpression.parse(text + self.text[end:])

    def holds(self, own: Getter, runs: Sequence[Getter] = ()) -> bool:
        """Return whether it holds of a question.

        Parameters
        ----------
        own
            Returns the value of a name for the question in the run that is asked.
        runs
            The same of all runs, which ``any(...)`` asks; by default of this one.
        """
        return self.part.held(own, runs or (own,)) is True


def written(name: str) -> str:
    """Return a name as a filter writes it: in backquotes if it holds spaces or signs, or is a word of the language.

    >>> written("nDCG@10"), written("answer relevance"), written("any")
    ('nDCG@10', '`answer relevance`', '`any`')
    """
    plain = re.fullmatch(_NAME, name) is not None and name.partition("(")[0] not in _WORDS
    return name if plain else f"`{name}`"


def _leaves(part: _Part) -> Iterator[_FlagName | _ComparedName]:
    """Yield the parts with a name in the order of the text."""
    for one in _every(part):
        if isinstance(one, _FlagName | _ComparedName):
            yield one


def _every(part: _Part) -> Iterator[_Part]:
    yield part
    inside: Iterable[_Part] = part.parts if isinstance(part, _JoinedParts) else ()
    if isinstance(part, _NegatedPart | _AnyRun):
        inside = (part.part,)
    for one in inside:
        yield from _every(one)


def _known_as(part: _FlagName | _ComparedName, kinds: Mapping[str, NameKind]) -> str:
    """Return a name as it is known: other capitals are forgiven."""
    folded = [name for name in kinds if name.lower() == part.name.lower()]
    if part.name in kinds or len(folded) == 1:
        return part.name if part.name in kinds else folded[0]
    known = (name for name, kind in kinds.items() if kind not in ELSEWHERE)
    hint = did_you_mean("question" if part.name.lower() == "id" else part.name, known).strip()
    hint = f"; {hint[0].lower()}{hint[1:]}" if hint else ""
    raise _PlacedError(f"{part.name} is no name of a measure, field or flag{hint}", part.at)


def _check(part: _FlagName | _ComparedName, name: str, kind: NameKind) -> None:
    """Refuse what a name of this kind can't be compared with."""
    if kind in ELSEWHERE:
        raise _PlacedError(f"{name} is {ELSEWHERE[kind]}", part.at)
    if isinstance(part, _FlagName):
        if kind != "flag":
            what, example = ("a number", "< 0.5") if kind == "number" else ("text", '== "..."')
            raise _PlacedError(f"{name} is {what}: compare it, as in {name} {example}", part.at)
        return
    if kind == "flag":
        raise _PlacedError(f"{name} is true or false by itself: write {name} or not {name}", part.sign_at)
    what = "a number" if kind == "number" else "text"
    if part.sign not in _SIGNS[kind]:
        raise _PlacedError(f"{name} is {what}: compare it by {', '.join(_SIGNS[kind])}", part.sign_at)
    for value, at in part.values:
        if value is None:
            if part.sign not in ("==", "!="):
                raise _PlacedError("none goes with == and != only", at)
        elif isinstance(value, str) != (kind == "text"):
            raise _PlacedError(f"{name} is {what}: write it {'in' if kind == 'text' else 'without'} quotes", at)


def _check_values(part: _FlagName | _ComparedName, name: str, known: Sequence[str]) -> None:
    """Refuse a value that a text with known values can't have, where all of it is compared."""
    if not known or isinstance(part, _FlagName) or part.sign == "contains":
        return
    for value, at in part.values:
        if isinstance(value, str) and value not in known:
            close = did_you_mean(value.lower(), known, '"{}"'.format).strip()
            *others, last = (f'"{one}"' for one in known)
            listed = " or ".join([", ".join(others), last] if others else [last])
            hint = f"; {close[0].lower()}{close[1:]}" if close else f": it is {listed}"
            raise _PlacedError(f'{name} is never "{value}"{hint}', at)


def _tokens(text: str) -> Iterator[_FilterToken]:
    at, token = 0, re.compile(_TOKEN, re.VERBOSE)
    while (found := token.match(text, at)) is not None:
        kind, start = found.lastgroup or "", found.end() - len(found[0].lstrip(" \t\r\n\u00a0"))
        whole, at = text[start : found.end()], found.end()
        if kind == "number":
            yield _FilterToken(kind, whole, start, float(whole))
        elif found["quote"] is not None:
            yield _FilterToken("text", whole, start, re.sub(r"\\([\"'\\])", r"\1", found["text"]))
        elif kind in ("name", "backquoted"):
            yield _FilterToken("name", whole, start, found[kind])
        else:
            yield _FilterToken(kind, whole, start)
        if kind == "end":
            return
    at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n\u00a0"))
    char = text[at]
    wrong = f"the quote {char} isn't closed" if char in "\"'`" else f"the character {char} means nothing here"
    raise _PlacedError(wrong, at)


class _FilterReader:
    """Reads the tokens of a filter from left to right, each rule of its grammar by a method."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise _PlacedError(f"a filter has at most {LONGEST} characters", LONGEST)
        self._tokens = list(_tokens(text))
        self._place = 0
        self._depth = 0

    @property
    def _next(self) -> _FilterToken:
        return self._tokens[self._place]

    def _take(self, *texts: str) -> _FilterToken | None:
        """Take the next token if it is one of these words or signs."""
        token = self._next
        if token.kind not in ("word", "sign") or token.text not in texts:
            return None
        self._place += 1
        return token

    def _lacks(self, wanted: str) -> NoReturn:
        kind, text, at, _ = self._next
        if (right := _WRITTEN.get(text) if kind == "sign" else None) or (
            (right := text.lower()) in _WORDS and right != text
        ):
            raise _PlacedError(f"{text} is written {right} here", at)
        raise _PlacedError(f"{wanted} is missing {'at the end' if kind == 'end' else f'before {text}'}", at)

    def whole(self) -> _Part:
        part = self._either()
        if self._next.kind != "end":
            self._lacks('"and" or "or"')
        return part

    def _either(self) -> _Part:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else _JoinedParts("or", tuple(parts))

    def _both(self) -> _Part:
        parts = [self._single()]
        while self._take("and"):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else _JoinedParts("and", tuple(parts))

    def _single(self) -> _Part:
        if self._depth == DEEPEST:
            raise _PlacedError(f"this nests more than {DEEPEST} deep", self._next.at)
        self._depth += 1
        part = self._nested()
        self._depth -= 1
        return part

    def _nested(self) -> _Part:
        if self._take("not"):
            return _NegatedPart(self._single())
        if (asked := self._take("any")) is not None:
            if not self._take("("):
                self._lacks('"(" behind "any"')
            return _AnyRun(self._closed(), asked.at)
        return self._closed() if self._take("(") else self._condition()

    def _closed(self) -> _Part:
        part = self._either()
        if not self._take(")"):
            self._lacks('")"')
        return part

    def _condition(self) -> _Part:
        token = self._next
        if token.kind != "name":
            self._lacks("a name")
        self._place += 1
        name, at, end = str(token.value), token.at, token.at + len(token.text)
        sign = self._take("<", "<=", ">", ">=", "==", "!=", "in", "contains", "not")
        if sign is None:
            if self._next.kind == "sign" and self._next.text in ("=", "<>"):
                self._lacks("")
            return _FlagName(name, at, end)
        if sign.text == "not" and not self._take("in"):
            self._lacks('"in" behind "not"')
        word = "not in" if sign.text == "not" else sign.text
        values = self._list() if word in ("in", "not in") else [self._literal()]
        return _ComparedName(name, at, end, word, sign.at, tuple(values))

    def _list(self) -> list[tuple[float | str | None, int]]:
        if not self._take("("):
            self._lacks('"(" behind "in"')
        values = [self._literal()]
        while self._take(","):
            values.append(self._literal())
        if not self._take(")"):
            self._lacks('"," or ")"')
        return values

    def _literal(self) -> tuple[float | str | None, int]:
        kind, text, at, value = self._next
        if self._take("none"):
            return None, at
        if kind == "name":
            truth = text.lower() in ("true", "false")
            alone = "a flag stands alone, as in failed or not failed; " if truth else ""
            raise _PlacedError(f'{alone}text stands in quotes: "{text}"', at)
        if kind not in ("number", "text"):
            self._lacks("a value")
        self._place += 1
        return value, at
