"""Shell command lines taken apart: commands, what joins them, and their words.

Nothing is expanded. A word that the shell would expand is marked, and a line with a construct that can't be followed
(a substitution, a group, a loop, a here document) isn't taken apart at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: Longer lines are programs, and aren't looked at.
LONGEST = 20_000

_OPERATORS = re.compile(r"&&|\|\||;;|\|&|[;&|\n]")
_REDIRECTION = re.compile(r"(\d*|&)(>>|>\||>&|<<|<&|<>|>|<)")
_BLANK = " \t\r"
_ENDS_WORD = f"{_BLANK}\n;&|<>()"
_EXPANDED = "*?[{$"
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select")
)
_ASSIGNMENT = re.compile(r"\w+=")


class UnfollowedError(Exception):
    """A construct whose effect isn't known from its text."""


@dataclass(slots=True)
class Word:
    """A word without its quotes; ``plain`` where the shell takes it as it stands."""

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
        """The program, without its folder; empty where the shell would expand it."""
        return self.words[0].text.rpartition("/")[2] if self.words and self.words[0].plain else ""


@dataclass(slots=True)
class Pipeline:
    """Commands that read from each other, and what stands before them: ``;``, ``&&`` or ``||``."""

    before: str
    commands: list[Command]


def pipelines(line: str) -> list[Pipeline]:
    """Return what a line runs, in order.

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
    place = 0
    while place < len(line):
        if line[place] in _BLANK:
            place += 1
        elif line[place] == "#":
            place = _after(line, "\n", place) - 1 if "\n" in line[place:] else len(line)
        elif line.startswith("\\\n", place):
            place += 2
        elif operator := _OPERATORS.match(line, place) if not line.startswith("&>", place) else None:
            place = operator.end()
            _join(found, operator[0])
        elif redirection := _REDIRECTION.match(line, place):
            place = _redirected(line, redirection, found[-1].commands[-1])
        else:
            word, place = _word(line, place)
            found[-1].commands[-1].words.append(word)
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


def _redirected(line: str, redirection: re.Match[str], command: Command) -> int:
    """Note a redirection, and return what follows it. That of errors into nothing, or to the output, is harmless."""
    if redirection[2] == "<<":
        raise UnfollowedError
    place = redirection.end()
    while place < len(line) and line[place] in _BLANK:
        place += 1
    target, place = _word(line, place)
    of_errors = redirection[1] == "2"
    if of_errors and redirection[2] in (">", ">>") and target.text == "/dev/null":
        command.quiet = True
    elif not (of_errors and redirection[2] == ">&" and target.text == "1"):
        command.redirected = True
    return place


def _word(line: str, place: int) -> tuple[Word, int]:
    """Return the word that begins at a place, and the place after it."""
    parts: list[str] = []
    plain = True
    start = place
    while place < len(line) and line[place] not in _ENDS_WORD:
        char = line[place]
        if char == "'":
            end = _after(line, "'", place + 1)
            parts.append(line[place + 1 : end - 1])
            place = end
        elif char == '"':
            text, expanded, place = _double_quoted(line, place + 1)
            parts.append(text)
            plain = plain and not expanded
        elif char == "\\":
            if place + 1 == len(line):
                raise UnfollowedError
            parts.append("" if line[place + 1] == "\n" else line[place + 1])
            place += 2
        elif char == "`" or line.startswith("$(", place) or line.startswith("$'", place):
            raise UnfollowedError
        else:
            plain = plain and char not in _EXPANDED and not (char == "~" and place == start)
            parts.append(char)
            place += 1
    if place == start:  # a parenthesis, or nothing behind a redirection
        raise UnfollowedError
    return Word("".join(parts), plain), place


def _double_quoted(line: str, place: int) -> tuple[str, bool, int]:
    """Return the text within double quotes, whether the shell would expand it, and the place after them."""
    parts: list[str] = []
    expanded = False
    while place < len(line):
        char = line[place]
        if char == '"':
            return "".join(parts), expanded, place + 1
        if char == "`" or line.startswith("$(", place):
            raise UnfollowedError
        if char == "\\" and line[place + 1 : place + 2] in ("$", "`", '"', "\\", "\n"):
            place += 1
            char = "" if line[place] == "\n" else line[place]
        elif char == "$":
            expanded = True
        parts.append(char)
        place += 1
    raise UnfollowedError


def _after(line: str, mark: str, place: int) -> int:
    """Return the place after the next mark."""
    found = line.find(mark, place)
    if found < 0:
        raise UnfollowedError
    return found + 1


def _without_prefix(command: Command) -> None:
    """Take away what stands before the program and doesn't change what it opens."""
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
