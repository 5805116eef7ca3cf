"""A million questions in the graph: ``python -m benchmarks.million FOLDER [--questions N] [--engine NAME]``.

It fills a new database of each engine with the world and one run by ``load --bulk``, unless the folder holds one. Then
it asks the running database, which has 4 GB of memory, each failure query for one question, and has it compute measures
of the whole run.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.processes import measure
from benchmarks.results import spaced
from benchmarks.world import RUNS, world
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.graph.queries import failure_queries
from graphkit.measures.registry import resolve_measures
from graphkit.plugins.embedded.place import HEAP_VARIABLE
from graphkit.scoring.cypher_scoring import score_run
from tests.helpers.engines import LTS_VERSION, Neo4jInstallation

ENGINES = ("embedded", "Neo4j")

#: Questions that each query is asked for, after one that doesn't count: the server has then compiled the query.
ASKED = 20

#: The longest that a query may take, in seconds.
BAR = 0.1

#: The file that marks a filled database.
FILLED = "filled"

#: The measures of the whole run.
MEASURES = ("EdgeRecall", "CrossRepoPrecision", "Coherence")


@contextmanager
def embedded(data: Path, home: Path) -> Iterator[Store]:
    """Fill the embedded database by its batch importer, and open it."""
    os.environ[HEAP_VARIABLE] = "4g"
    os.environ["GRAPHKIT_HOME"] = str(home)
    if not is_filled(home):
        load(data, "embedded, filled by its importer")
        (home / FILLED).touch()
    with Store.open(Settings(data=home)) as store:
        yield store


@contextmanager
def neo4j(data: Path, home: Path) -> Iterator[Store]:
    """Fill a new Neo4j by the import of neo4j-admin, start it, finish the import, and open it."""
    installed, new = Neo4jInstallation(home, LTS_VERSION), not is_filled(home)
    files = ["--out", str(home / "files")]
    if new:
        Neo4jInstallation.install(home, LTS_VERSION)
        os.environ["NEO4J_URI"] = "bolt://127.0.0.1:1"  # nobody listens: the server is stopped
        load(data, "Neo4j, files and import", *files, "--neo4j-home", str(installed.home))
        shutil.rmtree(home / "files")
    with installed.running("3g", {"server.memory.pagecache.size": "1g"}) as server:
        if new:
            os.environ["NEO4J_URI"] = server.uri
            load(data, "Neo4j, finished", *files)
            (home / FILLED).touch()
        with Store.open(server.settings) as store:
            yield store


def is_filled(home: Path) -> bool:
    """Return whether a folder holds a filled database; remove what else it holds."""
    if not (home / FILLED).exists():
        shutil.rmtree(home, ignore_errors=True)
    return home.exists()


def load(data: Path, what: str, *more: str) -> None:
    """Run ``load --bulk``, and print what it takes."""
    arguments = ["-m", "graphkit", "load", str(data), "--bulk", "--runs", str(data / f"runs/{RUNS[0]}.jsonl"), *more]
    used = measure(arguments, memory=True)
    print(f"{what}: {used.wall:.0f} s, {used.cpu:.0f} s of the processor, {used.memory:.0f} MB at the peak", flush=True)


def asked(store: Store, count: int) -> dict[str, tuple[float, float]]:
    """Return the median and the longest time of each failure query for one question, in seconds."""
    draw = random.Random(1)
    questions = [f"q{draw.randrange(count)}" for _ in range(ASKED + 1)]
    found = {}
    for query in failure_queries():
        times = []
        for question in questions:
            given: dict[str, object] = {"run": RUNS[0], "question": question}
            if query.takes("other"):
                given["other"] = RUNS[0]
            begin = time.perf_counter()
            store.read(query.text, query.bind(given))
            times.append(time.perf_counter() - begin)
        found[query.name] = median(times[1:]), max(times[1:])
    return found


def show(found: Mapping[str, tuple[float, float]]) -> None:
    """Print the times of the queries, the slowest first."""
    for name, (middle, longest) in sorted(found.items(), key=lambda one: -one[1][1]):
        print(f"  {name}: median {1000 * middle:.1f} ms, longest {1000 * longest:.1f} ms", flush=True)


def compute(store: Store, dataset: str) -> None:
    """Compute measures of the whole run in the database, and print what they take."""
    begin = time.perf_counter()
    result = score_run(store, dataset, RUNS[0], resolve_measures(MEASURES), keep_rows=False)
    means = ", ".join(f"{name} {found.mean:.6f}" for name, found in result.measures.items() if found.mean is not None)
    print(f"  {means} of {spaced(result.questions)} questions in {time.perf_counter() - begin:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the world and the databases go")
    parser.add_argument("--questions", type=int, default=1_000_000, help="how many there are (1000000)")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="the engine to fill (both)")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    data = world(given.folder, given.questions)
    print(f"{data}: {spaced(given.questions)} questions, written in {time.perf_counter() - begin:.0f} s", flush=True)
    late = []
    for engine in given.engine or ENGINES:
        home = given.folder / f"{data.name}-{engine}"
        with embedded(data, home) if engine == "embedded" else neo4j(data, home) as store:
            found = asked(store, given.questions)
            show(found)
            late += [name for name, (_, longest) in found.items() if longest > BAR]
            compute(store, data.name)
    raise SystemExit(f"slower than {BAR} s: {', '.join(late)}" if late else 0)


if __name__ == "__main__":
    main()
