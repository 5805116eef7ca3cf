"""Progress of a long operation, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable

#: Receives a kind of thing and how many of it have been done since the last call.
Progress = Callable[[str, int], None]


def quiet(kind: str, count: int) -> None:
    """Report no progress."""
