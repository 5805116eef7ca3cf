"""Growth: loading by each way, scoring in shards by each engine, and an empty shard beside the engine's own map."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from benchmarks import loading
from benchmarks.results import Line, spaced, write
from benchmarks.ten_million import Scored, different, score
from benchmarks.world import SHARD, sharded_world
from graphkit.shards.executors import opened_executor
from graphkit.shards.work import in_order

#: The engines, each with two workers, and the package that it needs.
ENGINES = {"processes=2": "graphkit", "dask=2": "distributed", "ray=2": "ray"}

#: How many empty shards show the overhead of one.
EMPTY = 500


def nothing(number: int) -> int:
    """Return a number: an empty shard."""
    return number


def known() -> list[str]:
    """Return the engines whose package is installed."""
    return [engine for engine, package in ENGINES.items() if find_spec(package)]


def scored(folder: Path, count: int, repeats: int) -> dict[str, list[Scored]]:
    """Score a world in shards in turns, by one process and by each engine, and check that all write the same bytes.

    Raises
    ------
    SystemExit
        They don't.
    """
    # At least eight shards, so that the last one doesn't leave a worker idle for long.
    data = sharded_world(folder, count, "", min(SHARD, math.ceil(count / 8)))
    found: dict[str, list[Scored]] = {"": [], **{engine: [] for engine in known()}}
    for _ in range(repeats):
        for engine, runs in found.items():
            runs.append(score(data, folder / f"scaling-{engine}", ["--on", engine] if engine else []))
    for engine in known():
        if others := different(folder / "scaling-", folder / f"scaling-{engine}"):
            raise SystemExit(f"{engine} writes other bytes than one process: {', '.join(others)}")
        shutil.rmtree(folder / f"scaling-{engine}")
    shutil.rmtree(folder / "scaling-")
    return found


def _shown(runs: list[Scored]) -> str:
    return f"{_seconds(runs):.1f} s, {max(one.largest for one in runs):.0f} MB"


def _seconds(runs: list[Scored]) -> float:
    return median(one.seconds for one in runs)


def lines_of(count: int, found: dict[str, list[Scored]], before: dict[str, list[Scored]] | None) -> Iterator[Line]:
    """Yield a line for each engine, and one for the growth since the size before."""
    for engine, runs in found.items():
        what = f"{engine or 'one process'}, {spaced(count)} questions"
        if engine:
            ratio = _seconds(found[""]) / _seconds(runs)
            yield Line(what, _shown(runs), "one process", _shown(found[""]), f"{ratio:.1f} times as fast")
        if before is not None:
            times = _seconds(runs) / _seconds(before[engine])
            memory = max(one.largest for one in runs) - max(one.largest for one in before[engine])
            yield Line(
                what, _shown(runs), "a tenth of them", _shown(before[engine]), f"{times:.1f} times, {memory:+.0f} MB"
            )


@contextmanager
def own_map(engine: str) -> Iterator[Callable[[], object]]:
    """Yield a call of the engine's own map over empty shards."""
    numbers = range(EMPTY)
    if engine.startswith("processes"):
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            yield lambda: list(pool.map(nothing, numbers))
    elif engine.startswith("dask"):
        from distributed import Client, LocalCluster

        place = LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
        with place, Client(place, set_as_default=False) as client:
            yield lambda: client.gather(client.map(nothing, numbers, pure=False))
    else:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        remote = ray.remote(nothing)
        try:
            yield lambda: ray.get([remote.remote(number) for number in numbers])
        finally:
            ray.shutdown()


def overhead_line(engine: str, repeats: int) -> Line:
    """Return the line of the time of an empty shard, beside the engine's own map."""
    tasks = [(str(number), number) for number in range(EMPTY)]
    with opened_executor(engine) as executor:
        ours = _each(lambda: list(in_order(executor, nothing, tasks)), repeats)
    with own_map(engine) as call:
        theirs = _each(call, repeats)
    added = f"{ours - theirs:+.2f} ms a shard"
    return Line(f"{engine}, an empty shard", f"{ours:.2f} ms", "the engine's own map", f"{theirs:.2f} ms", added)


def _each(call: Callable[[], object], repeats: int) -> float:
    """Return the milliseconds of a shard; the first call, which starts the workers, doesn't count."""
    call()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - begin) / EMPTY)
    return median(found)


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure loading, scoring in shards at growing sizes, and the overhead of a shard."""
    lines = loading.main(folder, repeats, large, False)
    before = None
    for count in (10_000, 100_000, *((1_000_000,) if large else ())):
        found = scored(folder, count, repeats)
        lines += lines_of(count, found, before)
        before = found
    lines += [overhead_line(engine, repeats) for engine in known()]
    if save:
        note = f"Whole commands, median of {repeats} in turns; the memory is that of the largest process."
        write("Scaling", note, lines)
    return lines
