"""Executing: small tests behind each wall, beside the same tests run bare, each in an interpreter of its own.

Bare is the least that anybody does: ``python -I -S test.py``, as many at a time as there are processors, without a
sandbox, limits, stand-ins or a look at the values.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from benchmarks.results import Line, write
from graphkit.plugins.sandbox.executions import Execution
from graphkit.plugins.sandbox.running import execute_all
from graphkit.plugins.sandbox.sandbox import open_sandbox
from graphkit.plugins.sandbox.walls import WALLS, Wall
from graphkit.records.structs import CodeTestStruct, QuestionStruct

#: How many tests, and the most times that they may take as long as bare.
TESTS = 200
BAR = 2.0

CODE = """
def total(lines, tax=0.19):
    net = sum(line["quantity"] * line["price"] for line in lines)
    return round(net * (1 + tax), 2)
"""
LINES = [{"quantity": 2, "price": 10.0}, {"quantity": 1, "price": 5.5}]
EXPECTED = 30.34  # 25.5 * 1.19 is a little less than 30.345

BARE = f"{CODE}\nassert total({LINES!r}) == {EXPECTED!r}\n"


def _questions() -> list[tuple[QuestionStruct, str]]:
    """Return fifty questions of four tests each, with the same answer."""
    tests = [CodeTestStruct(f"test {number}", [LINES], EXPECTED) for number in range(4)]
    return [
        (QuestionStruct(f"q{number}", "?", test_cases=tests, entry_point="total"), f"```python\n{CODE}```\n")
        for number in range(TESTS // len(tests))
    ]


def _bare(before: list[str]) -> None:
    """Run the tests in interpreters of their own, as many at a time as there are processors."""
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))

    def run(script: Path) -> None:
        subprocess.run([*before, python, "-I", "-S", str(script)], check=True, env={}, stdin=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as folder:
        scripts = [Path(folder, f"test_{number}.py") for number in range(TESTS)]
        for script in scripts:
            script.write_text(BARE)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(run, scripts))


def _executed(wall: Wall) -> None:
    """Run the tests by graphkit, with the start of the sandbox and its trial."""
    with open_sandbox(walls=(wall,)) as sandbox:
        found = execute_all(_questions(), "bench", sandbox)
    assert all(isinstance(one, Execution) and one.status == "success" for one in found.values()), found


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure each wall that this machine has, in turns with the tests run bare."""
    ways: dict[str, Callable[[], None]] = {
        f"graphkit, {wall.name}": lambda wall=wall: _executed(wall)  # type: ignore[misc]
        for wall in WALLS
    }
    if (bwrap := shutil.which("bwrap")) is not None:
        around = [bwrap, "--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind", "/", "/", "--dev", "/dev"]
        ways["bubblewrap around each interpreter"] = lambda: _bare(around)
    bare: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        bare.append(_seconds(lambda: _bare([])))
        for name, run in ways.items():
            taken[name].append(_seconds(run))
    least = median(bare)
    lines = []
    for name, times in taken.items():
        ratio = median(times) / least
        bar = (f"at most {BAR:g} times", ratio <= BAR) if name.startswith("graphkit") else ("", None)
        measured = f"{median(times) / TESTS * 1000:.1f} ms/test"
        lines.append(Line(name, measured, "bare", f"{least / TESTS * 1000:.1f} ms", f"{ratio:.2f}", *bar))
    if save:
        text = (
            f"{TESTS} small tests of Python, the start of everything included, median of {repeats}. Bare is "
            "`python -I -S test.py`, a process a test, as many at a time as there are processors."
        )
        write("Executing", text, lines)
    return lines


def _seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
