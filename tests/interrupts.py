"""Interrupts processes of graphkit at random moments: each has to end at once, as Ctrl-C is documented to end it.

    python -m tests.interrupts --count 500            # about a quarter of an hour on two quiet cores
    python -m tests.interrupts --only run --load 4    # one command, beside four busy processes

Half of the interrupts come at any moment of a command's usual duration, the others within milliseconds of the moment
when a system or a judge starts to sleep for an hour: that is when an event loop is about to wait. A process that hasn't
ended after ``SECONDS`` hangs: its threads are printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.cli import COMMAND, environment, tiny
from tests.helpers.datasets import SCORED, STOREFRONT
from tests.helpers.invocations import COMMANDS as FILED
from tests.helpers.invocations import PLAIN, commands, usual, write_world

#: After an interrupt a command ends within half a second, on a busy machine within a few.
SECONDS = 30.0

#: How a command may end: 0 and 1 where it was done, 130 by its own hand, -2 while its parts were imported.
EXPECTED = {0, 1, 130, -signal.SIGINT}
#: The others may be refused as well: their folder holds what a former one wrote.
REFUSED = 2

SLEEPING = """
import asyncio, pathlib, time

def system(question):
    pathlib.Path("waiting").touch()
    time.sleep(3600)

async def later(question):
    pathlib.Path("waiting").touch()
    await asyncio.sleep(3600)

def quick(question):
    return {"answer": question.id, "retrieved": []}

def judge(prompt, schema):
    pathlib.Path("waiting").touch()
    time.sleep(3600)
"""

#: The formats of logs, which are one function: `import auto` stands for them.
IMPORTED = {words for words in FILED if words[0] == "import" and words[1] not in ("auto", "gold", "graph")}

RUN = "shop/runs/storefront-graph.jsonl"
OTHER = "shop/runs/storefront-bm25.jsonl"
COMMANDS = {
    "run": ("run", "tiny", "--system", "sleeping:system", "-o", "new"),
    "run async": ("run", "tiny", "--system", "sleeping:later", "-o", "new"),
    "run quick": ("run", "shop", "--system", "sleeping:quick", "-o", "new"),
    "grade": ("grade", "tiny/runs/r.jsonl", "--judge", "sleeping:judge", "--no-store", "--grader", "rubric"),
    "listen": ("listen", "--dataset", "tiny", "--out", "heard.jsonl", "--port", "0"),
    "evaluate": ("evaluate", RUN, OTHER, "--no-store"),
    "compare": ("compare", RUN, OTHER, "-m", "EdgeRecall"),
    "report": ("report", RUN, "-o", "page.html"),
    "view": ("view", RUN),
    "serve-graph": ("serve-graph", "shop"),
    "check": ("check", "shop"),
    "execute": ("execute", "tiny/runs/r.jsonl", "--no-store", "--unsafe-no-sandbox"),
    "load": ("load", "shop"),
    "stored evaluate": ("evaluate", RUN),
    "query": ("query", "-e", "MATCH (a), (b) RETURN count(*)"),
}
#: All other commands, each in a folder with all that they take.
OTHERS = {
    " ".join(words): usual(words)
    for words in commands()
    if (words in PLAIN or words in FILED) and " ".join(words) not in COMMANDS and words[:2] not in IMPORTED
}
OTHERS |= {
    "demo": ["demo"],
    "sandbox check": ["sandbox", "check"],
    "db start": ["db", "start"],
    "db stop": ["db", "stop"],
}
#: Those that don't end by themselves.
ENDLESS = {"run", "run async", "grade", "listen", "view", "serve-graph"}
#: Those of them that ask no system or judge.
SERVING = {"listen", "view", "serve-graph"}


@dataclass
class Tally:
    """The ends of the processes of one command."""

    interrupts: int = 0
    slowest: float = 0.0
    codes: Counter[int] = field(default_factory=Counter)
    hung: int = 0


def started(name: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a group of its own, which SIGABRT makes print its threads."""
    for leftover in ("waiting", "heard.jsonl", "heard.spans"):
        (folder / leftover).unlink(missing_ok=True)
    shutil.rmtree(folder / "new", ignore_errors=True)
    env = environment({"GRAPHKIT_HOME": str(folder / "home"), "PYTHONFAULTHANDLER": "1", "PYTHONWARNINGS": ""})
    arguments, place = (COMMANDS[name], folder) if name in COMMANDS else (OTHERS[name], folder / "world")
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [*COMMAND, *arguments], cwd=place, env=env, stdout=log, stderr=log, start_new_session=True
        )


def usual_seconds(name: str, folder: Path) -> float:
    """Return how long a command takes, or until it waits."""
    begun = time.monotonic()
    process = started(name, folder)
    while process.poll() is None and time.monotonic() < begun + 10 * SECONDS:
        if name in ENDLESS and ((folder / "waiting").exists() or b"Ctrl-C" in (folder / "log").read_bytes()):
            break
        time.sleep(0.01)
    seconds = time.monotonic() - begun
    ended(process)
    return seconds


def ended(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a process and its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def interrupted(name: str, folder: Path, usual: float, draw: random.Random, tally: Tally) -> None:
    """Start a command, interrupt it, and note how it ended."""
    process = started(name, folder)
    try:
        if name in ENDLESS - SERVING and draw.random() < 0.5:
            while not (folder / "waiting").exists() and process.poll() is None:
                pass
            time.sleep(draw.choice([0, draw.uniform(0, 0.0005), draw.uniform(0, 0.005)]))
        else:
            time.sleep(draw.uniform(0.0, usual * 1.2))
        begun = time.monotonic()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            tally.interrupts += 1
        try:
            tally.codes[process.wait(SECONDS)] += 1
        except subprocess.TimeoutExpired:
            tally.hung += 1
            process.send_signal(signal.SIGABRT)
            time.sleep(1)
            sys.stderr.write(f"{name} hangs:\n{(folder / 'log').read_text('utf-8', 'replace')}\n")
        tally.slowest = max(tally.slowest, time.monotonic() - begun)
    finally:
        ended(process)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep some processes busy meanwhile."""
    spinning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], env=environment()) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def series(names: list[str], folder: Path, count: int, seed: int) -> dict[str, Tally]:
    """Interrupt commands so many times in all, and return how they ended."""
    tiny(folder / "tiny")
    (folder / "world").mkdir()
    write_world(folder / "world")
    (folder / "shop").mkdir()
    for name in SCORED:
        source = STOREFRONT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / "shop" / name)
    (folder / "sleeping.py").write_text(SLEEPING)
    draw = random.Random(seed)
    usual = {name: usual_seconds(name, folder) for name in names}
    tallies = {name: Tally() for name in names}
    while sum(tally.interrupts for tally in tallies.values()) < count:
        for name in names:
            interrupted(name, folder, usual[name], draw, tallies[name])
        sys.stderr.write(f"{sum(tally.interrupts for tally in tallies.values())} interrupts\n")
    return tallies


def main() -> None:
    """Interrupt, and print how the commands ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.interrupts", description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--only", choices=[*COMMANDS, *OTHERS], action="append")
    parser.add_argument("--load", type=int, default=0, help="Busy processes beside.")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    # A job of a script starts with interrupts ignored, and hands that on to the commands.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with (
        tempfile.TemporaryDirectory(prefix="graphkit-interrupts-", ignore_cleanup_errors=True) as folder,
        busy(given.load),
    ):
        tallies = series(given.only or [*COMMANDS, *OTHERS], Path(folder), given.count, given.seed)
    for name, tally in tallies.items():
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(tally.codes.items()))
        sys.stdout.write(
            f"{name:20} {tally.interrupts:5} interrupts, slowest {tally.slowest:5.2f} s, hung {tally.hung}; {codes}\n"
        )
    sys.exit(
        any(
            tally.hung or set(tally.codes) - EXPECTED - ({REFUSED} if name in OTHERS else set())
            for name, tally in tallies.items()
        )
    )


if __name__ == "__main__":
    main()
