"""Loading: through Bolt beside a bare driver that sends the same rows, and in bulk beside Bolt."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import Line, spaced, write
from benchmarks.stores import fresh, servers
from benchmarks.world import RUNS, world
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.datasets import load_dataset
from graphkit.graph.runs import load_run
from graphkit.plugins.bulk.bulk_load import bulk_load, embedded_importer
from graphkit.plugins.bulk.bulk_neo4j import bulk_load_neo4j
from tests.helpers.engines import LTS_VERSION, Neo4jInstallation, Neo4jServer

#: Nobody listens here: the server of an import is stopped.
NOBODY = Settings(uri="bolt://127.0.0.1:1")

Statement = tuple[str, Mapping[str, object]]


class Recorder:
    """A store that remembers the statements of each transaction.

    Those without rows are among them, such as the one for a run's node: others would find nothing to write to.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.transactions: list[list[Statement]] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def write(self, cypher: str, parameters: Mapping[str, object] | None = None) -> object:
        """Pass a statement on."""
        self._keep([(cypher, parameters or {})])
        return self._store.write(cypher, parameters)

    def write_many(self, statements: Sequence[Statement], *check: Any) -> None:
        """Pass statements on."""
        self._keep(statements)
        self._store.write_many(statements, *check)

    def _keep(self, statements: Sequence[Statement]) -> None:
        self.transactions.append([(cypher, parameters) for cypher, parameters in statements])


def load(store: Store, data: Path) -> None:
    """Load a dataset and its first run."""
    dataset = Dataset(data)
    load_dataset(store, dataset, Problems())
    load_run(store, dataset.name, RUNS[0], data / f"runs/{RUNS[0]}.jsonl")


def rows_of(transactions: Sequence[Sequence[Statement]]) -> int:
    """Count the rows that statements were given."""
    return sum(
        len(rows) for one in transactions for _, parameters in one if isinstance(rows := parameters.get("rows"), list)
    )


def bare(store: Store, transactions: Sequence[Sequence[Statement]]) -> None:
    """Send the same statements and rows in as many transactions, by the driver itself."""
    with store._driver.session(database=store.database) as session:
        for statements in transactions:
            with session.begin_transaction() as transaction:
                for cypher, parameters in statements:
                    transaction.run(cypher, dict(parameters)).consume()
                transaction.commit()


def seconds(work: object, *arguments: object) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    work(*arguments)  # type: ignore[operator]
    return time.perf_counter() - started


def line(engine: str, server: Neo4jServer | None, data: Path, repeats: int) -> Line:
    """Measure one engine."""
    ours, theirs = [], []
    with fresh(server) as store:  # to warm up, and for the rows
        recorder = Recorder(store)
        load(recorder, data)  # type: ignore[arg-type]
    for _ in range(repeats):
        with fresh(server) as store:
            ours.append(seconds(load, store, data))
        with fresh(server) as store:
            theirs.append(seconds(bare, store, recorder.transactions))
    rows = rows_of(recorder.transactions)
    own, other = median(ours), median(theirs)
    return Line(
        f"{engine}, {data.name}, {spaced(rows)} rows",
        f"{spaced(rows / own)} rows/s",
        "bare driver, the same rows in memory",
        f"{spaced(rows / other)} rows/s",
        f"{own / other:.2f} times the cost",
        "at most 1.3",
        own / other <= 1.3,
    )


def from_nothing(data: Path) -> None:
    """Start an embedded database, and load into it through Bolt."""
    with fresh(None) as store:
        load(store, data)


def in_bulk(data: Path) -> None:
    """Fill a new embedded database by its batch importer."""
    with tempfile.TemporaryDirectory(prefix="graphkit-bench-", ignore_cleanup_errors=True) as folder:
        bulk_load(embedded_importer(Path(folder)), Dataset(data), [data / f"runs/{RUNS[0]}.jsonl"], Problems())


def bulk_line(data: Path, repeats: int) -> Line:
    """Measure the batch importer of the embedded engine beside Bolt, both from a start without a database."""
    bulk, bolt = [], []
    for _ in range(repeats):
        bulk.append(seconds(in_bulk, data))
        bolt.append(seconds(from_nothing, data))
    return _in_bulk_line(f"embedded in bulk, {data.name}", bulk, "through Bolt, with its start", bolt)


def _in_bulk_line(what: str, bulk: Sequence[float], beside: str, bolt: Sequence[float]) -> Line:
    own, other = median(bulk), median(bolt)
    ratio = other / own
    times = f"{ratio:.1f} times as fast"
    return Line(what, f"{own:.1f} s", beside, f"{other:.1f} s", times, "at least 5 times as fast", ratio >= 5)


def neo4j_line(server: Neo4jServer, data: Path, repeats: int) -> Line:
    """Measure the import of Neo4j beside Bolt: the files, neo4j-admin and the finish, without the server's start."""
    bulk, bolt = [], []
    runs = [data / f"runs/{RUNS[0]}.jsonl"]
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="graphkit-bench-", ignore_cleanup_errors=True) as folder:
            installed = Neo4jInstallation.install(Path(folder, "installed"), LTS_VERSION)
            given = (Dataset(data), runs, Problems(), Path(folder, "out"))
            imported = seconds(partial(bulk_load_neo4j, home=installed.home), NOBODY, *given)
            with installed.running() as own:
                bulk.append(imported + seconds(bulk_load_neo4j, own.settings, *given))
        with fresh(server) as store:
            bolt.append(seconds(load, store, data))
    return _in_bulk_line(f"Neo4j in bulk, {data.name}", bulk, "through Bolt", bolt)


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure both engines."""
    lines = []
    with servers() as found:
        for count in (5_000, 20_000) if large else (5_000,):
            data = world(folder, count)
            lines += [line(engine, server, data, repeats) for engine, server in found.items()]
            lines.append(bulk_line(data, repeats))
            if (server := found.get("Neo4j")) is not None:
                lines.append(neo4j_line(server, data, repeats))
    if save:
        note = f"A dataset with a graph of hubs, and one run, from files into an empty database; median of {repeats}."
        write("Loading", note, lines)
    return lines
