"""Progress of a long operation, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable

#: Receives a kind of thing and how many of it have been done since the last call.
Progress = Callable[[str, int], None]

#: The name of a thread that ends before this process forks, and begins again in the parent.
RESTS_AT_FORK = "graphkit-rests-at-fork"


def quiet(kind: str, count: int) -> None:
    """Report no progress."""


def expect(progress: Progress, kind: str, more: int) -> None:
    """Report how many more things of a kind there will be, to a callback that has an ``expect`` of its own."""
    told = getattr(progress, "expect", None)
    if told is not None:
        told(kind, more)
