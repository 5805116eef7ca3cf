"""Whole processes: the time on the wall and on the processors, and the peak memory of a process with its children."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of one process: seconds, MB at the peak (with its children; 0 unwatched), and its output."""

    wall: float
    cpu: float
    memory: float
    output: str


def measure(arguments: Sequence[str], memory: bool = False) -> Usage:
    """Run Python with these arguments to its end, and where asked for look at its memory many times a second.

    Raises
    ------
    SystemExit
        It failed: its own message was printed.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True) as process:
        watch = _PeakWatch(process.pid)
        if memory:
            watch.start()
        output, _ = process.communicate()
        wall = time.perf_counter() - begin
        if memory:
            watch.stop()
    if process.returncode:
        raise SystemExit(f"python {' '.join(arguments)} failed with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Usage(wall, cpu, watch.peak, output)


class _PeakWatch(threading.Thread):
    """Adds up the proportional memory of a process and its children, many times a second, and keeps the largest sum."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._ended = threading.Event()
        self.peak = 0.0

    def run(self) -> None:
        """Watch until told to stop."""
        pause = 0.02
        while not self._ended.wait(pause):
            begin = time.perf_counter()
            self.peak = max(self.peak, sum(map(_megabytes, family(self._pid))))
            # A look at a large process takes long: it must not become a part of what is measured.
            pause = max(0.02, 20 * (time.perf_counter() - begin))

    def stop(self) -> None:
        """End the watch."""
        self._ended.set()
        self.join()


def family(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += family(int(child))
    except OSError:
        return found
    return found


def _megabytes(pid: int) -> float:
    """Return the memory of a process in which shared pages count by their share."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        return 0.0
    return 0.0
