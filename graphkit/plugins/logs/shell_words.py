"""Splits shell command lines into commands, their operators and their words.

Nothing is expanded. A word that the shell would expand is marked, and a line with a construct that can't be followed
(a substitution, a group, a loop, a here document) isn't taken apart at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

#: Longer lines are programs, and aren't looked at.
LONGEST = 20_000

_BLANK = r"[ \t\r]+|\\\n"
_TOKENS = re.compile(
    rf"""(?P<blank>{_BLANK}|\#[^\n]*)
    |(?P<operator>&&|\|\||;;|\|&|[;|\n]|&(?!>))
    |(?P<redirection>(?P<number>\d*|&)(?P<kind>>>|>\||>&|<<|<&|<>|>|<)(?:{_BLANK})*)
    |(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^ \t\r\n;&|<>()'"\\])+)""",
    re.DOTALL | re.VERBOSE,
)
_PARTS = re.compile(
    r"""'(?P<single>[^']*)'|"(?P<double>(?:\\.|[^"\\])*)"|\\(?P<escaped>.)|(?P<bare>[^'"\\]+)""", re.DOTALL
)
_IN_DOUBLE_QUOTES = re.compile(r'\\([$`"\\\n])|(`|\$\()|\$')
_EXPANDED = frozenset("*?[{$")
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select")
)
_ASSIGNMENT = re.compile(r"\w+=")


class UnfollowedError(Exception):
    """A construct whose effect isn't known from its text."""


@dataclass(slots=True)
class Word:
    """A word without its quotes; ``plain`` if the shell uses it unchanged."""

    text: str
    plain: bool = True


@dataclass(slots=True)
class Command:
    """One command with its words.

    Attributes
    ----------
    redirected
        Whether its input or its output is another than the usual one; errors may go where they like.
    quiet
        Whether its errors aren't shown.
    """

    words: list[Word] = field(default_factory=list)
    redirected: bool = False
    quiet: bool = False

    @property
    def name(self) -> str:
        """The program, without its folder; empty if the shell would expand it."""
        return self.words[0].text.rpartition("/")[2] if self.words and self.words[0].plain else ""


@dataclass(slots=True)
class Pipeline:
    """Commands that read from each other, and the operator before them: ``;``, ``&&`` or ``||``."""

    before: str
    commands: list[Command]


def pipelines(line: str) -> list[Pipeline]:
    """Return the pipelines of a line, in order.

    Raises
    ------
    UnfollowedError
        It can't be followed.

    >>> [(one.before, [word.text for word in one.commands[0].words]) for one in pipelines("cd src && cat 'a b.py'")]
    [(';', ['cd', 'src']), ('&&', ['cat', 'a b.py'])]
    """
    if len(line) > LONGEST:
        raise UnfollowedError
    found = [Pipeline(";", [Command()])]
    place, redirection = 0, None
    while place < len(line):
        token = _TOKENS.match(line, place)
        if token is None or (redirection is not None and token["word"] is None):
            raise UnfollowedError
        place = token.end()
        command = found[-1].commands[-1]
        if redirection is not None:
            _redirect(command, redirection, _word(token["word"]).text)
            redirection = None
        elif token["operator"]:
            _join(found, token["operator"])
        elif token["redirection"]:
            redirection = token
        elif token["word"]:
            command.words.append(_word(token["word"]))
    if redirection is not None:
        raise UnfollowedError
    kept = [one for one in found if any(command.words or command.redirected for command in one.commands)]
    for one in kept:
        for command in one.commands:
            _without_prefix(command)
    return kept


def _join(found: list[Pipeline], operator: str) -> None:
    if operator in (";;", "|&"):
        raise UnfollowedError
    if operator == "|":
        found[-1].commands.append(Command())
    elif found[-1].commands[-1].words or operator in ("&&", "||"):
        found.append(Pipeline(operator if operator in ("&&", "||") else ";", [Command()]))


def _redirect(command: Command, redirection: re.Match[str], target: str) -> None:
    """Note a redirection. That of errors into nothing, or to the output, is harmless."""
    of_errors, kind = redirection["number"] == "2", redirection["kind"]
    if kind == "<<":
        raise UnfollowedError
    if of_errors and kind in (">", ">>") and target == "/dev/null":
        command.quiet = True
    elif not (of_errors and kind == ">&" and target == "1"):
        command.redirected = True


def _word(raw: str) -> Word:
    """Return a word without its quotes."""
    word, former = Word(""), ""
    for part in _PARTS.finditer(raw):
        single, double, bare = part["single"], part["double"], part["bare"]
        if bare is not None:
            if "`" in bare:
                raise UnfollowedError
            word.plain = word.plain and not _EXPANDED & {*bare} and not (bare[0] == "~" and part.start() == 0)
            word.text += bare
        elif single is not None:
            if former.endswith("$"):
                raise UnfollowedError
            word.text += single
        elif double is not None:
            for special in _IN_DOUBLE_QUOTES.finditer(double):
                if special[2]:
                    raise UnfollowedError
                word.plain = word.plain and special[0] != "$"
            word.text += _IN_DOUBLE_QUOTES.sub(lambda special: _kept(special[1] or special[0]), double)
        else:
            word.text += _kept(part["escaped"])
        former = bare or ""
    return word


def _kept(escaped: str) -> str:
    """Return an escaped character; an escaped line break joins two lines."""
    return "" if escaped == "\n" else escaped


def _without_prefix(command: Command) -> None:
    """Remove the words before the program that don't change what it opens."""
    words = command.words
    while words:
        name = words[0].text
        if _ASSIGNMENT.match(name) or name in ("sudo", "time", "command", "nice"):
            del words[0]
        elif name == "timeout" and len(words) > 2:
            del words[:2]
        else:
            break
    if words and words[0].text in _KEYWORDS | {"!", "{"}:
        raise UnfollowedError


@dataclass(frozen=True, slots=True)
class Options:
    """The options that take a value: letters, and long ones."""

    letters: str = ""
    long: tuple[str, ...] = ()


@dataclass(slots=True)
class Given:
    """The arguments of a program: its options, the values of those that have one, and its operands."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[Word]] = field(default_factory=dict)
    operands: list[Word] = field(default_factory=list)


def parsed(words: Sequence[Word], options: Options) -> Given:
    """Return the options and operands of a program.

    >>> given = parsed([Word(text) for text in ("-rn", "-A", "3", "f", "src")], Options("A"))
    >>> sorted(given.flags), [word.text for word in given.operands]
    (['A', 'n', 'r'], ['f', 'src'])
    """
    given = Given()
    waiting = iter(words)
    for word in waiting:
        text = word.text
        if text == "--":
            given.operands += waiting
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            given.flags.add(name)
            if equals or name in options.long:
                given.values.setdefault(name, []).append(Word(value, word.plain) if equals else next(waiting, Word("")))
        elif text.startswith("-") and len(text) > 1:
            _letters(word, waiting, options, given)
        elif not (text.startswith("+") and text[1:].isdecimal()):
            given.operands.append(word)
    return given


def _letters(word: Word, waiting: Iterator[Word], options: Options, given: Given) -> None:
    """Add combined letters; the text after a letter that takes a value is the value."""
    for place, letter in enumerate(word.text[1:], 2):
        given.flags.add(letter)
        if letter in options.letters:
            rest = word.text[place:]
            value = Word(rest, word.plain) if rest else next(waiting, Word(""))
            given.values.setdefault(letter, []).append(value)
            return
