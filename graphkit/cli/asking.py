"""Questions to a person in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from graphkit.cli.base import say
from graphkit.errors import InputError, one_line

_Answer = TypeVar("_Answer")


def require_terminal(remedy: str) -> None:
    """Raise an InputError if standard input is no terminal."""
    if not sys.stdin.isatty():
        raise InputError("there is no terminal to ask in", remedy=remedy)


def ask(choices: str, read: Callable[[str], _Answer | None], short: str) -> _Answer | None:
    """Ask in the terminal until ``read`` understands the line; return None at the end of the input, or for ``q``."""
    while True:
        sys.stderr.write(f"({one_line(choices)}): ")
        sys.stderr.flush()
        given = sys.stdin.readline()
        line = given.strip()
        if not given or line.lower() in ("q", "quit"):
            return None
        if (answer := read(line)) is not None:
            return answer
        say(f"{line!r} is none of them" if line else short)
