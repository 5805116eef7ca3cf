"""Processes of this machine, as the kernel lists them. One that has ended may wait long for whoever inherits it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROC = Path("/proc")

listed = pytest.mark.skipif(not (PROC / "self").exists(), reason="processes are counted by /proc")


@dataclass(frozen=True)
class Process:
    """One that runs, or whose threads do."""

    pid: int
    name: str
    state: str
    parent: int
    group: int


def running(pid: int) -> Process | None:
    """Return a process, or nothing if it has ended."""
    try:
        about, _, rest = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")
        state, parent, group = rest.split()[:3]
        if state in "ZX" and len(list((PROC / str(pid) / "task").iterdir())) < 2:  # the first thread may end first
            return None
    except OSError:
        return None
    return Process(pid, about.partition("(")[2], state, int(parent), int(group))


def processes() -> Iterator[Process]:
    """Yield those that run."""
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (found := running(int(entry.name))) is not None:
            yield found


def children(parent: int) -> list[int]:
    """Return the processes that a process started."""
    return [one.pid for one in processes() if one.parent == parent]


def in_group(group: int) -> list[str]:
    """Return the names of the processes of a group."""
    return [one.name for one in processes() if one.group == group]
