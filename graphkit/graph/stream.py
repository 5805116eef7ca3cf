"""Write a stream of records: the next transaction is prepared while the server works on this one.

A transaction is as large as the server can take in good time: its size follows the duration of those before it. If the
server hasn't the memory or the time for one, its halves are written instead.
"""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graphkit.database.store import Store
from graphkit.errors import DatabaseError, ServerLimitError
from graphkit.graph.queries import cypher
from graphkit.graph.rights import grant, known_access
from graphkit.graph.rows import node_row
from graphkit.records.access_rules import AccessRules
from graphkit.records.ids import Places

T = TypeVar("T")
Statement = tuple[str, dict[str, Any]]

#: Rows of the first transaction, and of the smallest and largest that follow it.
FIRST, LEAST, MOST = 5000, 250, 40_000

#: Seconds that a transaction should take: long enough that commits don't count, short enough for other writers.
SECONDS = 0.75

#: Characters of text that count as a row.
TEXT = 500

#: Ids of artifacts that a load remembers, as hashes.
REMEMBERED = 1_000_000


@dataclass(frozen=True, slots=True)
class Transaction:
    """The statements of one transaction.

    Those with ``artifacts`` among their parameters join these, and return as ``joined`` the number of their rows,
    unless an artifact is missing.
    """

    statements: list[Statement]

    @classmethod
    def of(cls, *statements: Statement) -> Transaction:
        """Return a transaction of the statements that have rows."""
        return cls([one for one in statements if one[1]["rows"]])

    @property
    def artifacts(self) -> set[str]:
        """The ids of the artifacts that the statements join."""
        return {node for _, parameters in self.statements for node in parameters.get("artifacts", ())}

    def joined(self, results: Sequence[Sequence[Mapping[str, object]]]) -> bool:
        """Return whether the results of the statements say that no artifact was missing."""
        return all(
            rows[0]["joined"] == len(parameters["rows"])
            for rows, (_, parameters) in zip(results, self.statements, strict=True)
            if "artifacts" in parameters
        )


class Joins:
    """Rows that name artifacts by their places in one list, so that a statement looks up each artifact once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def statement(self, query: str, rows: list[dict[str, Any]], **more: object) -> Statement:
        """Return a statement with rows and the artifacts that they name."""
        return cypher(query), {"artifacts": list(self._places), "rows": rows, **more}

    def place(self, artifact: str) -> int:
        """Return the place of an artifact."""
        return self._places.setdefault(artifact, len(self._places))

    def edge(self, step: dict[str, Any]) -> dict[str, Any]:
        """Return the row of a step: its properties, and the places of its ends."""
        return {**step["properties"], "from": self.place(step["source"]), "to": self.place(step["target"])}


class Artifacts:
    """The artifacts of a dataset that a load knows to be in the graph; creates those that are missing."""

    def __init__(self, store: Store, dataset: str, places: Places | None = None) -> None:
        self._store = store
        self._dataset = dataset
        self._places = Places() if places is None else places
        self._known: set[int] = set()
        self._access: AccessRules | None = None

    def forget(self) -> None:
        """Ask the graph again for each artifact, since another process has removed some."""
        self._known.clear()

    def ensure(self, nodes: Iterable[str]) -> list[str]:
        """Create missing artifacts from their ids, and return these ids."""
        wanted = sorted(node for node in set(nodes) if hash(node) not in self._known)
        if not wanted:
            return []
        of = {"dataset": self._dataset}
        missing = [str(row["id"]) for row in self._store.read(cypher("load/missing_artifacts"), {**of, "ids": wanted})]
        if missing:
            rows = [node_row(node, self._places) for node in missing]
            self._store.write(cypher("load/named_artifacts"), {**of, "rows": rows})
            if self._access is None:
                self._access = known_access(self._store, self._dataset, self._places)
            grant(self._store, self._dataset, self._access, missing, lambda _: None)
        if len(self._known) + len(wanted) > REMEMBERED:
            self._known.clear()
        self._known.update(map(hash, wanted))
        return missing


class _Pace:
    """The size of the next transaction."""

    def __init__(self) -> None:
        self.size = FIRST

    def took(self, size: int, seconds: float) -> None:
        """Follow the duration of a transaction, by a factor of two at most."""
        wanted = size * min(2.0, max(0.5, SECONDS / max(seconds, 1e-6)))
        # A last, small transaction says little about a large one.
        if wanted < self.size or size > self.size / 2:
            self.size = int(min(MOST, max(LEAST, wanted)))


class StreamWriter(Generic[T]):
    """Writes items in transactions.

    Parameters
    ----------
    statements
        The transaction of some items. It is called ahead of the writing, in another thread.
    weigh
        The number of rows of an item, and with :data:`TEXT` the share of its texts; by default one.
    before
        Called with the items of a transaction before it is written, in the caller's thread.
    """

    def __init__(
        self,
        store: Store,
        statements: Callable[[list[T]], Transaction],
        weigh: Callable[[T], int] = lambda item: 1,
        artifacts: Artifacts | None = None,
        before: Callable[[list[T]], None] = lambda items: None,
    ) -> None:
        self._store = store
        self._statements = statements
        self._weigh = weigh
        self._before = before
        self._artifacts = artifacts
        self._pace = _Pace()
        #: Artifacts that were created since only their ids were named.
        self.created: list[str] = []

    def write(self, items: Iterable[T]) -> Iterator[list[T]]:
        """Write items, and yield those of each transaction after its commit."""
        with closing(_ahead(self._prepared(items))) as prepared:
            for batch, size, transaction in prepared:
                self._before(batch)
                yield from self._written(batch, size, transaction)

    def _prepared(self, items: Iterable[T]) -> Iterator[tuple[list[T], int, Transaction]]:
        batch: list[T] = []
        size = 0
        for item in items:
            batch.append(item)
            size += self._weigh(item)
            if size >= self._pace.size:
                yield batch, size, self._statements(batch)
                batch, size = [], 0
        if batch:
            yield batch, size, self._statements(batch)

    def _written(self, batch: list[T], size: int, transaction: Transaction) -> Iterator[list[T]]:
        start = time.monotonic()
        try:
            self._commit(transaction)
        except ServerLimitError:
            if len(batch) == 1:
                raise
            self._pace.size = max(LEAST, size // 2)
            half = len(batch) // 2
            for some in (batch[:half], batch[half:]):
                yield from self._written(some, size // 2, self._statements(some))
            return
        self._pace.took(size, time.monotonic() - start)
        yield batch

    def _commit(self, transaction: Transaction) -> None:
        def check(results: Sequence[Sequence[dict[str, object]]]) -> None:
            if not transaction.joined(results):
                raise _ArtifactsRemovedError

        for _ in range(_ATTEMPTS):
            if self._artifacts is not None:
                self.created.extend(self._artifacts.ensure(transaction.artifacts))
            try:
                self._store.write_many(transaction.statements, check)
            except _ArtifactsRemovedError:
                if self._artifacts is not None:
                    self._artifacts.forget()
            else:
                return
        raise DatabaseError(
            "another process keeps removing the artifacts that this load names",
            where=self._store.uri,
            remedy="Wait until it has ended, and run this again.",
        )


#: Attempts to write a transaction whose artifacts another process removes.
_ATTEMPTS = 5


class _ArtifactsRemovedError(Exception):
    """An artifact that was in the graph is no longer there."""


def _ahead(items: Iterator[T]) -> Generator[T]:
    """Yield items that another thread makes, one ahead; its exception is raised here."""
    made: queue.Queue[tuple[bool, Any]] = queue.Queue(maxsize=1)
    stopped = threading.Event()

    def put(entry: tuple[bool, Any]) -> None:
        while not stopped.is_set():
            try:
                made.put(entry, timeout=0.1)
            except queue.Full:
                continue
            return

    def make() -> None:
        try:
            for item in items:
                put((True, item))
                if stopped.is_set():
                    return
            put((False, None))
        except BaseException as error:  # whatever it is, the caller's thread raises it
            put((False, error))

    thread = threading.Thread(target=contextvars.copy_context().run, args=(make,), daemon=True)
    thread.start()
    try:
        while (entry := made.get())[0]:
            yield entry[1]
        if entry[1] is not None:
            raise entry[1]
    finally:
        stopped.set()
        thread.join()
