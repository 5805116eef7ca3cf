"""A million questions in the graph: ``python -m benchmarks.million FOLDER [--questions N] [--engine NAME]``.

It fills a new database with the world and one run by ``load --bulk``, and then asks each named query for one question
on the running database.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from benchmarks.processes import measure
from benchmarks.results import spaced
from benchmarks.world import RUNS, world
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.graph.queries import failure_queries

#: Questions that each query is asked for, after one that doesn't count: the server has then compiled the query.
ASKED = 20

#: The longest that a query may take, in seconds.
BAR = 0.1


def asked(store: Store, count: int) -> dict[str, tuple[float, float]]:
    """Return the median and the longest time of each named query for one question, in seconds."""
    draw = random.Random(1)
    questions = [f"q{draw.randrange(count)}" for _ in range(ASKED + 1)]
    found = {}
    for query in failure_queries():
        times = []
        for question in questions:
            given = {"run": RUNS[0], "question": question}
            more = {"other": RUNS[0]} if query.takes("other") else {}
            begin = time.perf_counter()
            store.read(query.text, query.bind(given | more))
            times.append(time.perf_counter() - begin)
        found[query.name] = median(times[1:]), max(times[1:])
    return found


def embedded(data: Path, folder: Path, count: int) -> dict[str, tuple[float, float]]:
    """Fill the embedded database by its batch importer, and ask the queries."""
    home = folder / "million-embedded"
    shutil.rmtree(home, ignore_errors=True)
    os.environ["GRAPHKIT_HOME"] = str(home)
    used = measure(["-m", "graphkit", "load", str(data), "--bulk", "--runs", str(_run(data))], memory=True)
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) / 1e6
    print(f"embedded: filled in {used.wall:.0f} s, {used.memory:.0f} MB at the peak, {size:.0f} MB on disk", flush=True)
    with Store.open(Settings(data=home)) as store:
        return asked(store, count)


def _run(data: Path) -> Path:
    return data / "runs" / f"{RUNS[0]}.jsonl"


ENGINES: Mapping[str, Callable[[Path, Path, int], dict[str, tuple[float, float]]]] = {"embedded": embedded}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the world and the databases go")
    parser.add_argument("--questions", type=int, default=1_000_000, help="how many there are (1000000)")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="the engine to fill (all)")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    data = world(given.folder, given.questions)
    print(f"{data}: {spaced(given.questions)} questions, written in {time.perf_counter() - begin:.0f} s", flush=True)
    late = False
    for engine in given.engine or ENGINES:
        found = ENGINES[engine](data, given.folder, given.questions)
        for name, (middle, longest) in sorted(found.items(), key=lambda one: -one[1][1]):
            print(f"  {name}: median {1000 * middle:.1f} ms, longest {1000 * longest:.1f} ms", flush=True)
        late = late or any(longest > BAR for _, longest in found.values())
    raise SystemExit(late)


if __name__ == "__main__":
    main()
