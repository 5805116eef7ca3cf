"""The width of a terminal, and text that fits it: broken at spaces only, and commands as a shell reads them."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

from graphkit.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console

#: The width where a terminal doesn't tell its own.
USUAL = 80


#: A word; an interval is one as well.
_WORD = re.compile(r"\[[^\s\[\],]+, [^\s\[\],]+\]\S*|\S+")


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
    for word in _WORD.findall(text):
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


def masked(text: str) -> str:
    """Return a text with its secrets masked."""
    from graphkit.records.secrets import masked_message

    return masked_message(text)


def say(text: str = "") -> None:
    """Print a line on standard error; escape what could break the line or control a terminal.

    A terminal gets it broken at spaces, as :func:`graphkit.cli.base.print_line` does.
    """
    for line in folded(one_line(masked(text)), width_of(sys.stderr)):
        sys.stderr.write(f"{line}\n")


def say_text(text: str) -> None:
    """Print several lines on standard error, each as :func:`say` does."""
    for line in text.split("\n"):
        say(line)


def console(stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that prints text unchanged; without a terminal it has the given width."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else width
    plain = bool(os.environ.get("NO_COLOR"))
    made = Console(
        stderr=stderr,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None if plain else "auto",
    )
    render = made.render_str
    # Mask secrets before the layout: one that a cell breaks into lines would no longer be found.
    made.render_str = lambda text, *given, **named: render(masked(text), *given, **named)  # type: ignore[method-assign]
    return made
