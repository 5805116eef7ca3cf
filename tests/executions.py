"""Runs tests of every kind in a sandbox, one after the other, and looks at what is left: nothing may be.

    python -m tests.executions --executions 1000          # under each wall that runs here, about two minutes each

Some succeed, some raise, some run out of time or memory, some print without end, some leave files and deep folders in
their folder, and some crash. Afterwards no process, no file and no descriptor may be left that wasn't there before.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.plugins.sandbox.hosts import host_files
from graphkit.plugins.sandbox.limits import MIB, SandboxLimits
from graphkit.plugins.sandbox.sandbox import Sandbox, failure_of
from graphkit.plugins.sandbox.walls import NO_WALL, WALLS, Wall
from graphkit.plugins.sandbox.witness import descendants

_SUBREAPER = 36

#: What is run, each with the seconds that it may take and how it may end.
KINDS: dict[str, tuple[str, float, set[str]]] = {
    "success": ("return sum(range(1000))", 10, {"exited"}),
    "raised": ("raise ValueError('x')", 10, {"exited"}),
    "endless": ("while True: pass", 0.2, {"timeout"}),
    "asleep with closed pipes": (
        "import os, time; [os.dup2(0, n) for n in (1, 2, 4)]; time.sleep(99)",
        0.2,
        {"timeout"},
    ),
    "hungry": ("return len(bytearray(1 << 40))", 10, {"exited"}),
    "files": ("for n in range(50): open(str(n), 'w').write('x' * 9999)", 10, {"exited"}),
    "deep folders": ("import os\n    for n in range(300): os.mkdir('d'); os.chdir('d')", 10, {"exited"}),
    "too many files": (
        "import time\n    for n in range(2000): open(str(n), 'w').close()\n    time.sleep(1)",
        10,
        {"disk", "exited"},
    ),
    "names of its own": ("import os\n    for n in range(9): os.makedirs(f'.{n}/x/y')", 10, {"exited"}),
    "printing": ("while True: print('x' * 9999)", 10, {"printed"}),
    "crash": ("import ctypes; ctypes.string_at(0)", 10, {"signal"}),
    "threads": (
        "import threading, time\n    for n in range(9): threading.Thread(target=time.sleep, args=(99,)).start()",
        0.2,
        {"timeout", "exited"},
    ),
}


@dataclass
class Left:
    """The leftovers of a series of executions, and their results.

    Attributes
    ----------
    unlike
        Those that ended otherwise than they should.
    memory
        By how many bytes graphkit grew.
    """

    ended: Counter[str] = field(default_factory=Counter)
    unlike: list[str] = field(default_factory=list)
    processes: int = 0
    files: list[str] = field(default_factory=list)
    descriptors: int = 0
    threads: int = 0
    memory: int = 0
    seconds: float = 0.0

    @property
    def anything(self) -> bool:
        """Whether anything was left, or wasn't as it should be."""
        return bool(self.unlike or self.processes or self.files or self.descriptors or self.threads)


def series(wall: Wall, executions: int, folder: Path, seed: int = 1, jobs: int = 2) -> Left:
    """Run so many tests behind a wall, with the folder of all temporary files given, and tell what is left."""
    left, lock = Left(), threading.Lock()
    draw = random.Random(seed)
    kinds = [name for _, name in zip(range(executions), _endless(draw), strict=False)]
    # What lost its parent becomes a child of this process, and is counted.
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    before = _state()
    begin, waiting = time.monotonic(), iter(kinds)
    with _temporary(folder):
        limits = SandboxLimits(printed=MIB)
        sandbox = Sandbox(wall, (), host_files(), limits, jobs)

        def work() -> None:
            while True:
                with lock:
                    kind = next(waiting, None)
                if kind is None:
                    return
                body, seconds, ends = KINDS[kind]
                code = f"def test():\n    {body}\n"
                try:
                    how = str(sandbox.run(code, "test", [], seconds).how)
                except Exception as error:  # whatever it is, it is reported
                    how = repr(error)
                with lock:
                    left.ended[how] += 1
                    if how not in ends:
                        left.unlike.append(f"{kind}: {how}")

        workers = [threading.Thread(target=work) for _ in range(jobs)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        sandbox.close()
        left.files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    left.seconds = time.monotonic() - begin
    deadline = time.monotonic() + 10.0  # what was killed may take a moment
    while (after := _state())[0] > before[0] and time.monotonic() < deadline:
        time.sleep(0.02)
    left.processes, left.descriptors, left.threads, left.memory = (
        now - then for now, then in zip(after, before, strict=True)
    )
    return left


def _endless(draw: random.Random) -> Iterator[str]:
    """Yield every kind as often as the others, in any order; every second one succeeds."""
    while True:
        kinds = [*KINDS, *(["success"] * (len(KINDS) - 2))]
        draw.shuffle(kinds)
        yield from kinds


@contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    former = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = former


def _state() -> tuple[int, int, int, int]:
    """Return how many processes, descriptors and threads there are, and the most memory so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return len(descendants(os.getpid())), len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), peak


def reported(wall: Wall, executions: int, left: Left) -> str:
    """Return what came of a series, in lines."""
    ends = ", ".join(f"{count} {how}" for how, count in left.ended.most_common())
    return (
        f"{wall.name}: {executions} executions in {left.seconds:.1f} s ({ends}); left: {left.processes} processes, "
        f"{len(left.files)} files, {left.descriptors} descriptors, {left.threads} threads; "
        f"graphkit grew by {left.memory / MIB:.1f} MiB\n"
        + "".join(f"  {one}\n" for one in left.unlike[:10] + left.files[:10])
    )


def main() -> None:
    """Run them behind each wall that runs here; exit with 1 where anything was left."""
    parser = argparse.ArgumentParser(prog="python -m tests.executions", description=__doc__)
    parser.add_argument("--executions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    bad = False
    for wall in (*WALLS, NO_WALL):
        why = None if wall.name == "none" else failure_of(wall, host_files(), SandboxLimits())
        if why is not None:
            sys.stdout.write(f"{wall.name} doesn't run here: {why}\n")
            continue
        with tempfile.TemporaryDirectory(prefix="graphkit-executions-") as folder:
            left = series(wall, given.executions, Path(folder), given.seed)
        sys.stdout.write(reported(wall, given.executions, left))
        sys.stdout.flush()
        bad |= left.anything
    sys.exit(bad)


if __name__ == "__main__":
    main()
