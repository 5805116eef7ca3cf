"""The width of a terminal, and text that fits it: broken at spaces only, and commands as a shell reads them."""

from __future__ import annotations

import os
from typing import Any, TextIO

#: The width where a terminal doesn't tell its own.
USUAL = 80


def width_of(stream: TextIO) -> int | None:
    """Return the width of the terminal that a stream writes to; None if it writes to none."""
    if not stream.isatty():
        return None
    if (given := os.environ.get("COLUMNS", "")).isdigit() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except (OSError, ValueError):  # a stream without a file has no size
        return USUAL


def folded(text: str, width: int | None, indent: int = 2, *, shorten: bool = False) -> list[str]:
    """Return a line as lines of at most ``width`` columns, broken at spaces; None breaks nothing.

    Parameters
    ----------
    indent
        How far the following lines are indented beyond the first.
    shorten
        Cut out the middle of a word that is wider than a line. Otherwise such a word has a line of its own.
    """
    if width is None or cells(text) <= width:
        return [text]
    margin = len(text) - len(text.lstrip(" "))
    below = " " * min(margin + indent, width // 2)
    lines, line = list[str](), " " * margin
    for word in text.split():
        fitting = elided(word, width - len(below)) if shorten else word
        if line.strip() and cells(line) + 1 + cells(fitting) > width:
            lines.append(line)
            line = below
        line += f" {fitting}" if line.strip() else fitting
    return [*lines, line]


def folded_command(text: str, width: int | None) -> list[str]:
    """Return a command as lines that a shell reads as one."""
    lines = folded(text, width and width - 2, 4)
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def elided(text: str, width: int) -> str:
    """Return a text without its middle if it is wider than ``width`` columns.

    >>> elided("api/sessions.py#open_session", 15)
    'api/ses…session'
    """
    if cells(text) <= width:
        return text
    kept = max(width - 1, 2)
    left, right = text[: kept - kept // 2], text[-(kept // 2) :]
    while cells(left) + cells(right) + 1 > max(width, 3):  # wide characters take two columns
        left, right = left[:-1], right[1:]
    return f"{left}…{right}"


def cells(text: Any) -> int:
    """Return how many columns a text takes in a terminal; some characters take two, and some none."""
    if str(text).isascii():
        return len(str(text))
    from rich.cells import cell_len

    return cell_len(str(text))
