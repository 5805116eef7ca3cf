"""Pieces of code that the sandbox runs to prove itself, read from the data files of this package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def snippet(name: str) -> str:
    """Return the code of ``snippets/NAME.txt``."""
    return (_FOLDER / "snippets" / f"{name}.txt").read_text(encoding="utf-8")


def fields_and_code(path: Path) -> tuple[list[tuple[str, str]], str]:
    """Read a file that begins with lines of ``field: value`` up to a line ``---``; the rest is code."""
    head, _, code = path.read_text(encoding="utf-8").partition("\n---\n")
    return [tuple(line.split(": ", 1)) for line in head.splitlines()], code  # type: ignore[misc]


def files_below(folder: str, pattern: str) -> list[Path]:
    """Return the data files of a folder of this package, in the order of their paths."""
    return sorted((_FOLDER / folder).glob(pattern))
