"""The Cypher engine beside the Python engine, and the named queries, as the number of questions grows."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import Line, spaced, write
from benchmarks.stores import fresh, servers
from benchmarks.world import RUNS, world
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.datasets import load_dataset
from graphkit.graph.knowledge import commit_graph
from graphkit.graph.queries import Query, named_queries
from graphkit.graph.runs import load_run
from graphkit.measures.registry import resolve_measures
from graphkit.plugins.embedded.place import HEAP_VARIABLE
from graphkit.scoring.cypher_scoring import score_run
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.scorer import Job

#: Growth counts as linear up to this ratio of the time a question takes at one size and at a tenth of it.
LINEAR = 2.0
ONE_QUESTION = 1.0
SMALL_HEAP, LARGE_HEAP = "1g", "6g"
MEASURES = tuple(measure for measure in resolve_measures() if measure.query)


@dataclass(frozen=True)
class Times:
    """Measurements at one size in seconds; each named query for all questions and for one."""

    count: int
    load: float
    python: float
    cypher: float
    queries: dict[str, tuple[float, float]]


def measured(store: Store, data: Path, count: int) -> Times:
    """Load a world, score its first run by both engines, and ask every named query."""
    dataset = Dataset(data)
    started = time.perf_counter()
    load_dataset(store, dataset, Problems())
    for run in RUNS:
        load_run(store, dataset.name, run, data / f"runs/{run}.jsonl")
    load = time.perf_counter() - started
    commits = commit_graph(store, dataset.name)
    started = time.perf_counter()
    ours = score_file(Job(dataset.questions_file, data / f"runs/{RUNS[0]}.jsonl", MEASURES, commits))
    python = time.perf_counter() - started
    score_run(store, dataset.name, RUNS[0], MEASURES, keep_rows=False)  # to warm up
    started = time.perf_counter()
    theirs = score_run(store, dataset.name, RUNS[0], MEASURES, keep_rows=False)
    cypher = time.perf_counter() - started
    for name, summary in ours.measures.items():
        other = theirs.measures[name]
        if summary.scored != other.scored or abs((summary.mean or 0) - (other.mean or 0)) > 1e-9:
            raise RuntimeError(f"{name}: {summary} in Python, {other} in Cypher")
    queries = {name: (asked(store, query, None), asked(store, query, "q7")) for name, query in named_queries().items()}
    return Times(count, load, python, cypher, queries)


def asked(store: Store, query: Query, question: str | None) -> float:
    """Return how long a named query takes, for all questions or for one."""
    given: dict[str, object] = {}
    for parameter in query.parameters:
        if parameter.name in {"run", "other"}:
            given[parameter.name] = RUNS[parameter.name == "other"]
        if parameter.name == "question":
            given[parameter.name] = question
    bound = query.bind(given)
    store.read(query.text, bound)
    started = time.perf_counter()
    store.read(query.text, bound)
    return time.perf_counter() - started


def lines_of(engine: str, times: list[Times]) -> list[Line]:
    """Return the lines of one engine."""
    lines = []
    for smaller, larger in zip([None, *times[:-1]], times, strict=True):
        name, count = f"{engine}, {spaced(larger.count)}", larger.count
        lines.append(
            Line(
                f"{name}: {len(MEASURES)} measures",
                f"Cypher {each(larger.cypher, count)}",
                "Python",
                each(larger.python, count),
                f"{larger.cypher / larger.python:.0f} times the cost",
            )
        )
        if smaller is not None:
            lines += grown(name, smaller, larger)
    return [*lines, *query_lines(engine, times[-1])]


def grown(name: str, smaller: Times, larger: Times) -> list[Line]:
    """Return lines about the time a question takes at a size, beside that at the size before."""
    beside = f"at {spaced(smaller.count)}"
    pairs = {"load": (smaller.load, larger.load), "Cypher": (smaller.cypher, larger.cypher)}
    pairs |= {query: (smaller.queries[query][0], larger.queries[query][0]) for query in larger.queries}
    lines = []
    for what, (few, many) in pairs.items():
        ratio = (many / larger.count) / (few / smaller.count)
        other, own = each(few, smaller.count), each(many, larger.count)
        lines.append(Line(f"{name}: {what}", own, beside, other, f"{ratio:.2f}", f"at most {LINEAR}", ratio <= LINEAR))
    return lines


def query_lines(engine: str, times: Times) -> list[Line]:
    """Return a line for each named query at the largest size: all questions beside one."""
    return [
        Line(
            f"{engine}, {spaced(times.count)}: {name} of one question",
            f"{1000 * one:.0f} ms",
            "of all",
            f"{every:.2f} s",
            f"1 : {every / one:.0f}",
            "under a second",
            one < ONE_QUESTION,
        )
        for name, (every, one) in times.queries.items()
    ]


def each(seconds: float, count: int) -> str:
    """Return the time that one question takes."""
    return f"{1e6 * seconds / count:.0f} us/question"


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure both engines on growing worlds."""
    counts = [100, 1_000, 10_000, *([100_000] if large else [])]
    # A query over all of 100 000 questions holds all of their edges.
    heap = LARGE_HEAP if large else SMALL_HEAP
    os.environ[HEAP_VARIABLE] = heap
    lines = []
    with servers(heap) as found:
        for engine, server in found.items():
            times = []
            for count in counts:
                data = world(folder, count)
                with fresh(server) as store:
                    times.append(measured(store, data, count))
                print(engine, times[-1], flush=True)
            lines += lines_of(engine, times)
    if save:
        note = f"A dataset with a graph of hubs and two runs; growth counts as linear up to {LINEAR} times a question."
        note += f" Each server had a heap of {heap}."
        write("Engines", note, lines)
    return lines
