"""Ten million questions in shards: ``python -m benchmarks.ten_million FOLDER [--questions N]``.

It writes the world, scores it with one process, then on a local cluster of two workers of which one is killed every 30
seconds, and compares both results folders byte by byte.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import family
from benchmarks.results import spaced
from benchmarks.world import RUNS, SHARD, sharded_world

#: Seconds between two kills, and between two looks at the memory.
EVERY, LOOK = 30.0, 0.5

#: What marks the processes of Dask's workers in their command lines, beside that of the one that starts them.
_WORKER = b"spawn_main"


@dataclass(frozen=True)
class Scored:
    """One scoring: seconds, killed workers, and in MB the peak of all processes, of the largest and of the driver."""

    seconds: float
    killed: int
    together: float
    largest: float
    driver: float


def score(data: Path, out: Path, on: Sequence[str], every: float | None = None) -> Scored:
    """Score the world by the command line, and kill a worker every so many seconds.

    Raises
    ------
    SystemExit
        The command failed.
    """
    run = data / "runs" / RUNS[0]
    command = [sys.executable, "-m", "graphkit", "evaluate", str(run), "--dataset", str(data)]
    begin = time.perf_counter()
    command += ["--no-store", "--out", str(out), *on]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        watch = _Watch(process.pid, every)
        watch.start()
        process.wait()
        watch.ended.set()
        watch.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    return Scored(time.perf_counter() - begin, watch.killed, watch.together, watch.largest, watch.driver)


class _Watch(threading.Thread):
    """Looks at the memory of a process and its children, and kills one of its workers now and then."""

    def __init__(self, pid: int, every: float | None) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._every = every
        self._draw = random.Random(1)
        self.ended = threading.Event()
        self.killed = 0
        self.together = self.largest = self.driver = 0.0

    def run(self) -> None:
        """Watch until told to stop."""
        last = time.monotonic()
        while not self.ended.wait(LOOK):
            found = family(self._pid)
            sizes = [_resident(pid) for pid in found]
            self.together = max(self.together, sum(sizes))
            self.largest = max(self.largest, *sizes)
            self.driver = max(self.driver, sizes[0])
            workers = [pid for pid in found if _is_worker(pid)]
            if self._every is not None and time.monotonic() - last > self._every and workers:
                last = time.monotonic()
                os.kill(self._draw.choice(workers), signal.SIGKILL)
                self.killed += 1


def _resident(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        return 0.0
    return 0.0


def _is_worker(pid: int) -> bool:
    try:
        return _WORKER in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def different(one: Path, other: Path) -> list[str]:
    """Return the names of the files that two folders don't share to the last byte."""
    names = sorted({file.name for folder in (one, other) for file in folder.iterdir()})
    return [
        name
        for name in names
        if not ((one / name).is_file() and (other / name).is_file())
        or (one / name).read_bytes() != (other / name).read_bytes()
    ]


def shown(title: str, count: int, scored: Scored) -> str:
    """Return a line about a scoring."""
    speed = f"{scored.seconds:.0f} s, {spaced(count / scored.seconds)} questions/s"
    memory = (
        f"largest process {scored.largest:.0f} MB, driver {scored.driver:.0f} MB, together {scored.together:.0f} MB"
    )
    return f"{title}: {speed}, {memory}, {scored.killed} killed"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ten_million", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the world and both results folders go")
    parser.add_argument("--questions", type=int, default=10_000_000, help="how many there are (10000000)")
    parser.add_argument("--shard", type=int, default=SHARD, help=f"the questions of a shard ({SHARD})")
    parser.add_argument("--on", default="dask=2", help="the executor of the second scoring (dask=2)")
    parser.add_argument("--every", type=float, default=EVERY, help="seconds between two kills (30)")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    data = sharded_world(given.folder, given.questions, ".zst", given.shard)
    print(f"{data}: written in {time.perf_counter() - begin:.0f} s", flush=True)
    alone = score(data, given.folder / "alone", [])
    print(shown("one process", given.questions, alone), flush=True)
    spread = score(data, given.folder / "spread", ["--on", given.on], given.every)
    print(shown(given.on, given.questions, spread), flush=True)
    others = different(given.folder / "alone", given.folder / "spread")
    print("identical to the last byte" if not others else f"NOT identical: {', '.join(others)}", flush=True)
    raise SystemExit(bool(others))


if __name__ == "__main__":
    main()
