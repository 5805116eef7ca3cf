"""Finds the files that ``grep`` and ``rg`` matched, from their output."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphkit.plugins.logs.shell_words import Command, Options, Word, parsed

GREPS = ("grep", "egrep", "fgrep", "rg")

_GREP = Options(
    "efmABCdD",
    (
        *("--regexp", "--file", "--max-count", "--after-context", "--before-context", "--context", "--include"),
        *("--exclude", "--exclude-dir", "--directories", "--devices"),
    ),
)
_RG = Options(
    "efmABCgtTMjrEd",
    (
        *("--regexp", "--file", "--max-count", "--after-context", "--before-context", "--context", "--glob", "--iglob"),
        *("--type", "--type-not", "--max-columns", "--threads", "--replace", "--encoding", "--max-depth", "--sort"),
    ),
)

#: Options by which no line says where it was found, or lines have another form.
_UNREADABLE = frozenset(
    (*"hLqzZrZ", "--no-filename", "--files-without-match", "--quiet", "--silent", "--null", "--null-data", "--heading")
) | {"--json", "--pretty", "--replace", "--files", "--passthru", "-p", "--label"}
_NAMES = frozenset(("l", "--files-with-matches"))
_COUNTS = frozenset(("c", "--count"))
_NUMBERED = frozenset(("n", "--line-number", "--vimgrep"))
_RECURSIVE = frozenset(("r", "R", "--recursive", "--dereference-recursive"))
_NAMED = frozenset(("H", "--with-filename", "--vimgrep"))
_CONTEXT = frozenset((*"ABC", "--after-context", "--before-context", "--context"))

_NUMBERED_LINE = re.compile(r"([^:\s][^:]*):\d+:")
_NAMED_LINE = re.compile(r"([^:\s]+):")
_BINARY = re.compile(r"(?:grep: )?(?:Binary file )?(\S+?)(?: matches|: binary file matches\b.*)$")
_CONTEXT_LINE = re.compile(r"(.+)-\d+-")


@dataclass(frozen=True, slots=True)
class Search:
    """A search, as far as it decides how its output is read.

    Attributes
    ----------
    operands
        Where it looks; none for all that is below.
    whole_folders
        Whether it goes into folders.
    """

    operands: tuple[str, ...]
    whole_folders: bool
    named: bool = False
    numbered: bool = False
    only_names: bool = False
    context: bool = False


@dataclass(frozen=True, slots=True)
class Matched:
    """The files that a search found something in, and whether all of its output was understood."""

    files: list[str]
    certain: bool = True


def searched(command: Command) -> Search | None:
    """Return the search of a command, or None if its output doesn't show which files matched."""
    ripgrep = command.name == "rg"
    given = parsed(command.words[1:], _RG if ripgrep else _GREP)
    flags = given.flags
    unreadable = _UNREADABLE - ({"r"} if not ripgrep else set()) - ({"d"} if ripgrep else set())
    if flags & unreadable or flags & _COUNTS or command.redirected or (ripgrep and "p" in flags):
        return None
    pattern_given = bool({"e", "f", "--regexp", "--file"} & flags)
    operands = given.operands if pattern_given else given.operands[1:]
    if not all(word.plain for word in given.operands) or not (pattern_given or given.operands):
        return None
    if any(word.text == "-" for word in operands):
        return None
    return Search(
        tuple(word.text for word in _files(operands)),
        whole_folders=ripgrep or bool(flags & _RECURSIVE),
        named=bool(flags & _NAMED),
        numbered=bool(flags & _NUMBERED),
        only_names=bool(flags & _NAMES),
        context=bool(flags & _CONTEXT) or any(flag.isdecimal() for flag in flags),
    )


def _files(words: Iterable[Word]) -> Iterable[Word]:
    return (word for word in words if word.text)


def matched_files(search: Search, lines: list[str]) -> Matched:
    """Return the files that a search found something in, of the lines that it printed.

    >>> matched_files(Search(("src",), True, numbered=True), ["src/a.py:1:x", "src/b.py:2:x:y"]).files
    ['src/a.py', 'src/b.py']
    """
    lines = [line for line in lines if line.strip()]
    if search.only_names:
        within = [line for line in lines if _is_within(line, search)]
        return Matched(list(dict.fromkeys(within)), len(within) == len(lines))
    if len(search.operands) == 1 and not search.named and not _looks_into(search, lines):
        return Matched(list(search.operands) if lines else [], _is_file(search.operands[0]))
    if not search.operands and not search.whole_folders:
        return Matched([], certain=False)  # it reads its input
    if search.context and not search.numbered:
        return Matched([], certain=False)
    found: dict[str, None] = {}
    certain = True
    for line in lines:
        name = _named_by(line, search)
        if name is not None:
            found[name] = None
        elif line != "--" and not (search.context and _CONTEXT_LINE.match(line)):
            certain = False
    return Matched([name for name in found if not (search.context and _of_context(name, found))], certain)


def _looks_into(search: Search, lines: list[str]) -> bool:
    """Return whether the only operand is a folder: it is searched as one, and lines begin with its files."""
    operand = search.operands[0]
    if not search.whole_folders or operand in (".", "./"):
        return search.whole_folders
    return any(line.startswith(f"{operand.rstrip('/')}/") for line in lines) or not _is_file(operand)


def _is_file(operand: str) -> bool:
    """Return whether an operand looks like a file."""
    return "." in operand.rpartition("/")[2].strip(".")


def _named_by(line: str, search: Search) -> str | None:
    """Return the file that a line names as the place of a match, or None."""
    binary = _BINARY.match(line)
    found = binary or (_NUMBERED_LINE if search.numbered else _NAMED_LINE).match(line)
    return found[1] if found is not None and _is_within(found[1], search) else None


def _is_within(name: str, search: Search) -> bool:
    """Return whether a file is one of those that a search looks at."""
    if not search.operands:
        return not name.startswith("/")
    tops = (operand.rstrip("/") for operand in search.operands)
    return any(name == top or name.startswith(f"{top}/") or (top == "." and not name.startswith("/")) for top in tops)


def _of_context(name: str, found: Iterable[str]) -> bool:
    """Return whether a name is a line beside a match, whose text looks like a place."""
    beside = _CONTEXT_LINE.match(name)
    return beside is not None and beside[1] in found
