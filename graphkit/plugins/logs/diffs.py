"""Unified diffs: the files of the old state that they change, and the changed symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from graphkit.plugins.logs.definitions import definition, indent_of

_HUNK = re.compile(r"@@ -(?P<start>\d{1,9})(?:,(?P<old>\d{1,9}))? \+\d+(?:,(?P<new>\d{1,9}))? @@ ?(?P<heading>.*)")
#: The folders that git puts before the two states of a file: a and b, or of the index, worktree, commit or object.
_PREFIXES = frozenset("abciwo12")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}


@dataclass
class ChangedFile:
    """A changed file: its old path (None for a new file), and the changed symbols.

    ``places`` are the changed lines: the line in the old file, the symbol around it, and whether the line is removed.
    An added line has the number of the old line before it.
    """

    path: str | None = None
    symbols: dict[str, None] = field(default_factory=dict)
    places: list[tuple[int, str | None, bool]] = field(default_factory=list)


def changed_files(patch: str) -> list[ChangedFile]:
    """Return the files that a unified diff of git or diff changes.

    Raise ValueError if the text isn't a unified diff, or a hunk is cut short.
    """
    files: list[ChangedFile] = []
    lines = iter(patch.split("\n"))
    named = False  # whether the path of the last file is certain
    for line in lines:
        if line.startswith("diff --git "):
            files.append(ChangedFile(_both(line.removeprefix("diff --git "))))
            named = False
        elif line.startswith("--- "):
            if not files or named:
                files.append(ChangedFile())
            files[-1].path = _path(line[4:], files[-1].path)
            named = True
        elif line.startswith("rename from ") and files:
            files[-1].path = _unquoted(line.removeprefix("rename from "))
        elif line.startswith("new file mode ") and files:
            files[-1].path = None
        elif found := _HUNK.match(line):
            if not files or not named:
                raise ValueError(f"the patch has a hunk without a file: {line[:80]!r}")
            _hunk(found, lines, files[-1])
    if not files:
        raise ValueError("the patch isn't a unified diff: it names no file")
    return files


class _Around(NamedTuple):
    """A definition that may enclose changed lines.

    ``encloses`` is False for a function in a hunk's heading: its indentation is unknown, so it may be a sibling of the
    next definition.
    """

    symbol: str
    indent: int
    encloses: bool
    added: bool


def _hunk(found: re.Match[str], lines: Iterator[str], file: ChangedFile) -> None:
    """Add the old symbols that a hunk changes: the innermost one around each changed line."""
    old, new = (int(found[side]) if found[side] is not None else 1 for side in ("old", "new"))
    number = int(found["start"]) - (old > 0)  # the last old line so far; an empty side follows its line
    heading = definition(found["heading"])
    around = [_Around(heading.symbol, 0, heading.container, added=False)] if heading else []
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None or (line and line[0] not in " +-\\"):
            raise ValueError(f"a hunk of the patch is cut short: {found[0][:80]!r}")
        mark, text = line[:1] or " ", line[1:]
        if mark == "\\":
            continue
        old -= mark in " -"
        number += mark in " -"
        new -= mark in " +"
        begun = definition(text)
        within = [one for one in around if one.indent < indent_of(text) and (one.encloses or not begun)]
        if begun:
            around = [*within, _Around(begun.symbol, begun.indent, encloses=True, added=mark == "+")]
            within = around if mark == "-" else within
        if mark in "+-" and text.strip():
            shown = within[-1].symbol if within and not within[-1].added else None
            if shown is not None:
                file.symbols.setdefault(shown)
            file.places.append((number, shown, mark == "-"))


def _path(text: str, headed: str | None) -> str | None:
    """Return the path of a ``---`` line, or None for a new file; ``headed`` is the path in the line above it."""
    text = _unquoted(text.partition("\t")[0].rstrip("\r"))
    if headed is not None and text[1:2] == "/" and text[2:] == headed and text[0] in _PREFIXES:
        return headed
    return None if text == "/dev/null" else text.removeprefix("a/")


def _both(text: str) -> str | None:
    """Return the path in ``a/path b/path`` if both are equal, also behind the prefixes of git's mnemonicPrefix."""
    half = len(text) // 2
    first, second = _unquoted(text[:half]), _unquoted(text[half + 1 :])
    if (
        first[0:1] != second[0:1]
        and first[1:] == second[1:]
        and first[1:2] == "/"
        and {first[0], second[0]} <= _PREFIXES
    ):
        return first[2:]
    return first.removeprefix("a/") if first.removeprefix("a/") == second.removeprefix("b/") else None


def _unquoted(text: str) -> str:
    r"""Return a path without git's quotes: ``"caf\303\251"``."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text

    def byte(found: re.Match[str]) -> str:
        code = found[1]
        raw = bytes([int(code, 8) & 255]) if code.isdigit() else _ESCAPES.get(code, code.encode())
        return raw.decode("latin-1")

    return _ESCAPE.sub(byte, text[1:-1]).encode("latin-1", "replace").decode(errors="replace")
