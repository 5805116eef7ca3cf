"""Unified diffs: which files of the old state they change, and in which symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from graphkit.gold.definitions import definition, indent_of
from graphkit.gold.public_rows import UnusableRowError

_HUNK = re.compile(r"@@ -(?P<start>\d+)(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@ ?(?P<heading>.*)")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}


@dataclass
class ChangedFile:
    """A file that a diff changes: its old path (None where the diff adds it), and the symbols that it changes there.

    ``places`` are the changed lines of the old file, each with the symbol that the diff shows around it; a line that is
    added has the number of the old line before it.
    """

    path: str | None = None
    symbols: dict[str, None] = field(default_factory=dict)
    places: list[tuple[int, str | None, bool]] = field(default_factory=list)


def changed_files(patch: str) -> list[ChangedFile]:
    """Return the files that a unified diff changes, as git or diff writes it.

    Raises
    ------
    UnusableRowError
        It is no unified diff, or a hunk is cut short.
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
            files[-1].path = _path(line[4:])
            named = True
        elif line.startswith("rename from ") and files:
            files[-1].path = _unquoted(line.removeprefix("rename from "))
        elif line.startswith("new file mode ") and files:
            files[-1].path = None
        elif found := _HUNK.match(line):
            if not files or not named:
                raise UnusableRowError(f"the patch has a hunk without a file: {line[:80]!r}")
            _hunk(found, lines, files[-1])
    if not files:
        raise UnusableRowError("the patch is no unified diff: no file is named in it")
    return files


class _Around(NamedTuple):
    """A definition that changed lines may be within.

    ``encloses`` other definitions: how far the line of a heading is indented isn't shown, and a function that stands
    there may be the neighbour of the next one.
    """

    symbol: str
    indent: int
    encloses: bool
    added: bool


def _hunk(found: re.Match[str], lines: Iterator[str], file: ChangedFile) -> None:
    """Take note of the old symbols that a hunk changes: of each changed line the innermost one around it."""
    old, new = (int(found[side]) if found[side] is not None else 1 for side in ("old", "new"))
    number = int(found["start"]) - (old > 0)  # of the last old line that was read; an empty side is behind its line
    heading = definition(found["heading"])
    around = [_Around(heading.symbol, 0, heading.container, added=False)] if heading else []
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None or (line and line[0] not in " +-\\"):
            raise UnusableRowError(f"a hunk of the patch is cut short: {found[0][:80]!r}")
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


def _path(text: str) -> str | None:
    """Return the path of a ``---`` line; None for a file that isn't there before."""
    text = _unquoted(text.partition("\t")[0].rstrip("\r"))
    return None if text == "/dev/null" else text.removeprefix("a/")


def _both(text: str) -> str | None:
    """Return the path of ``a/path b/path`` where both are one, as they are where nothing else tells it."""
    half = len(text) // 2
    first, second = _unquoted(text[:half]), _unquoted(text[half + 1 :])
    return first.removeprefix("a/") if first.removeprefix("a/") == second.removeprefix("b/") else None


def _unquoted(text: str) -> str:
    r"""Return a path as git quotes it: ``"caf\303\251"``."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text

    def byte(found: re.Match[str]) -> str:
        code = found[1]
        raw = bytes([int(code, 8) & 255]) if code.isdigit() else _ESCAPES.get(code, code.encode())
        return raw.decode("latin-1")

    return _ESCAPE.sub(byte, text[1:-1]).encode("latin-1", "replace").decode(errors="replace")
