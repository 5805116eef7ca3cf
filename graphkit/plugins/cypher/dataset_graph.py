"""The dataset's own graph in an embedded database of its own: kinds are labels, relations are types.

A node has the properties of its artifact (``id``, ``repo``, ``path``, ``symbol``, ``kind``, ``commit``, ``line``,
``end_line``, ``aliases``), those that its record states; a relationship ``since`` and ``until``. A node without a kind
has the label ``Artifact``, as has the end of an edge that no record of an artifact describes, of which only the ``id``
is known. Of several graphs, each node has the name of its own as ``stack``, and an id that several hold is a node in
each of them, told apart by ``stack`` and ``commit``; edges stay within a graph.

A database is made once, in ``graphs/DIGEST`` of graphkit's folder, by the digest of the files, so a changed file makes
another. ``graph.json`` in it says that it is complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from graphkit.database.access import Waiting, unseen
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import InputError, did_you_mean
from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import stored_blocks
from graphkit.files.problems import Problems, offering
from graphkit.graph.writing import batched
from graphkit.plugins.bulk.bulk_client import BulkImport, Ends, Kind
from graphkit.plugins.embedded import client
from graphkit.plugins.embedded.place import ServerLimits
from graphkit.records.shapes import forwards
from graphkit.records.structs import EdgeStruct
from graphkit.records.words import counted, shortened

#: The label of a node whose kind isn't known.
UNKNOWN_KIND = "Artifact"

#: Seconds that a query may take.
TIMEOUT = 30.0

#: The number of graphs that are kept, besides those in use.
KEPT = 8

#: Changes with what is written of the same files.
_FORM = "2"
_TOGETHER = 20_000
_LONGEST_NAME = 200  # bytes: the database makes names of files of them
_PROPERTIES = ("id", "repo", "path", "symbol", "kind", "commit", "line", "end_line")


@dataclass(frozen=True)
class DatasetGraph:
    """A complete graph of a dataset on the disk, which :func:`kept_graph` holds.

    Attributes
    ----------
    folder
        The folder of its database.
    digest
        The digest of its files.
    stacks
        The names of its graphs; none if the dataset has one without a name.
    timeout
        The seconds after which its server ends a query.
    unused
        Sentences on the fields of its files that it lacks, since graphkit doesn't know them.
    """

    folder: Path
    digest: str
    stacks: tuple[str, ...]
    timeout: float
    unused: tuple[str, ...] = ()

    def open(self, waiting: Waiting = unseen) -> Store:
        """Return its store, which only reads; the server starts with the first one.

        Raises
        ------
        DatabaseError
            The server doesn't start.
        """
        return Store.open(Settings(data=self.folder, timeout=self.timeout), read_only=True, waiting=waiting)

    def serve(self, port: int = 0, waiting: Waiting = unseen) -> client.Endpoint:
        """Return its running server with the reader's account, at a port of choice if none runs yet.

        Raises
        ------
        DatabaseError
            The server doesn't start.
        """
        return client.ensure_running(self.folder, waiting=waiting, limits=ServerLimits(self.timeout, port))

    def serves(self, store: Store) -> bool:
        """Return whether the server that a store reads still runs."""
        return self.address() == store.uri

    def address(self) -> str | None:
        """Return the address of its server; None if none runs."""
        return client.status(self.folder).uri

    def end_server(self) -> None:
        """End the server at once, whatever it is doing; nothing is lost, since it only reads."""
        if (pid := client.status(self.folder).pid) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def dataset_graph(
    dataset: str | Path | Dataset,
    home: Path | None = None,
    *,
    stacks: Sequence[str] = (),
    timeout: float = TIMEOUT,
    waiting: Waiting = unseen,
) -> Iterator[Store]:
    """Open the dataset's own graph for reading; see :func:`kept_graph` for the parameters and errors."""
    with kept_graph(dataset, home, stacks=stacks, timeout=timeout, waiting=waiting) as graph, graph.open() as store:
        yield store


@contextlib.contextmanager
def kept_graph(
    dataset: str | Path | Dataset,
    home: Path | None = None,
    *,
    stacks: Sequence[str] = (),
    timeout: float = TIMEOUT,
    waiting: Waiting = unseen,
) -> Iterator[DatasetGraph]:
    """Make the database of a dataset's graph unless it is there, and hold it while the block runs.

    Parameters
    ----------
    home
        The folder of graphkit; that of the environment by default.
    stacks
        The graphs by name, for a dataset with several (``artifacts-NAME.jsonl``).
    timeout
        The seconds after which the server, if this process starts it, ends a query.
    waiting
        Shows what is awaited.

    Raises
    ------
    InputError
        The dataset has no graph, or several and none is named; a record can't be used, or a name can't be a label.
    DatabaseError
        The database can't be made.
    """
    found = Dataset.of(dataset, questions=False)
    chosen = _chosen(found, stacks)
    digest = _digest(chosen)
    parent = (home or Settings.resolve().data) / "graphs"
    graph = DatasetGraph(parent / digest, digest, tuple(name for name in chosen if name), timeout)
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _held(parent / f"{digest}.lock", waiting) as lock:
        mark = graph.folder / "graph.json"
        while not mark.exists():
            with waiting(f"making the graph of {found.name}"):
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not mark.exists():
                    _make(found, chosen, graph)
            fcntl.flock(lock, fcntl.LOCK_SH)
        os.utime(mark)
        _clean(parent, _of(found, graph), digest)
        yield replace(graph, unused=tuple(json.loads(mark.read_text("utf-8"))["unused"]))


Files = dict[str, tuple[Path | None, Path | None]]


def _chosen(dataset: Dataset, stacks: Sequence[str]) -> Files:
    """Return the files of the graphs that are asked for."""
    there = dataset.graphs
    if not there:
        raise InputError(
            "the dataset has no graph: neither artifacts.jsonl nor edges.jsonl",
            where=dataset.given,
            remedy="Put them beside questions.jsonl (`graphkit schema artifact` and `edge` show their fields), or name "
            "the database that holds your graph.",
        )
    named = ", ".join(name for name in there if name)
    if unknown := [name for name in stacks if name not in there]:
        hint = f"{did_you_mean(unknown[0], there)}It has: {named}."
        remedy = hint if named else "Leave out --stack: its only graph has no name."
        raise InputError(f"the dataset has no graph named {unknown[0]!r}", where=dataset.given, remedy=remedy)
    if not stacks and len(there) > 1:
        raise InputError(
            f"the dataset has {counted(len(there), 'graph')}, and a query is asked of one",
            where=dataset.given,
            remedy=f"Name it by --stack; it has: {named}.",
        )
    return {name: files for name, files in there.items() if name in stacks or not stacks}


def _digest(chosen: Files) -> str:
    hasher = blake2b(_FORM.encode(), digest_size=16)
    for name, files in sorted(chosen.items()):
        for path in files:
            hasher.update(f"\0{name if len(chosen) > 1 else ''}\0{path is None}\0".encode())
            for block in () if path is None else stored_blocks(path):
                hasher.update(block)
    return hasher.hexdigest()


def _of(dataset: Dataset, graph: DatasetGraph) -> dict[str, Any]:
    """Return what a later graph of the same files' names replaces this one by."""
    return {"dataset": dataset.place, "stacks": list(graph.stacks)}


def _make(dataset: Dataset, chosen: Files, graph: DatasetGraph) -> None:
    """Make the database in place of one that isn't complete."""
    shutil.rmtree(graph.folder, ignore_errors=True)
    problems = Problems()
    with offering(skips=False, maps=False), BulkImport(graph.folder, {}) as database:
        filling = _Filling(database, dataset, problems)
        for name, (artifacts, edges) in chosen.items():
            filling.add(name if len(chosen) > 1 else None, artifacts, edges)
        problems.raise_if_refused()
        # A repeated id is a node in each of several graphs, so it isn't a constraint.
        database.complete([f"CREATE INDEX IF NOT EXISTS FOR (n:{quoted(one)}) ON (n.id)" for one in filling.counts])
    with written(graph.folder / "graph.json") as file:
        file.write_text(json.dumps(_of(dataset, graph) | {"unused": problems.unknown_fields()}), "utf-8")


class _Filling:
    """A database that is filled with graphs, in parts, so that a graph of any size fits into memory.

    Attributes
    ----------
    counts
        The number of nodes by label.
    """

    def __init__(self, database: BulkImport, dataset: Dataset, problems: Problems) -> None:
        self.counts: Counter[str] = Counter()
        self._database = database
        self._dataset = dataset
        self._problems = problems
        self._types: set[str] = set()
        self._nodes: dict[str, tuple[str, int]] = {}

    def add(self, stack: str | None, artifacts: Path | None, edges: Path | None) -> None:
        """Add a graph, whose nodes get its name."""
        self._nodes = {}
        for some in batched(() if artifacts is None else self._dataset.artifacts(artifacts, self._problems), _TOGETHER):
            nodes: dict[str, list[dict[str, Any]]] = {}
            for one in some:
                properties = {name: getattr(one, name) for name in _PROPERTIES} | {"aliases": one.aliases or None}
                self._node(nodes, str(artifacts), one.kind or UNKNOWN_KIND, {**properties, "stack": stack})
            self._database.send(nodes, {})
        for part in batched(() if edges is None else self._dataset.edges(edges, self._problems), _TOGETHER):
            nodes = {}
            relationships: dict[Kind, list[Ends]] = {}
            for edge in part:
                self._relate(nodes, relationships, str(edges), stack, edge)
            self._database.send(nodes, relationships)

    def _node(self, nodes: dict[str, list[dict[str, Any]]], file: str, label: str, properties: dict[str, Any]) -> None:
        if label not in self.counts:
            self._check(label, "kind", "label", self._types, file, properties["id"])
        self._nodes[properties["id"]] = label, self.counts[label]
        self.counts[label] += 1
        nodes.setdefault(label, []).append(properties)

    def _relate(
        self,
        nodes: dict[str, list[dict[str, Any]]],
        relationships: dict[Kind, list[Ends]],
        file: str,
        stack: str | None,
        edge: EdgeStruct,
    ) -> None:
        along = forwards(edge.relation)
        relation = along or edge.relation
        if relation not in self._types:
            self._check(relation, "relation", "type", self.counts, file, f"{edge.source} {relation} {edge.target}")
            self._types.add(relation)
        for end in (edge.source, edge.target):
            if end not in self._nodes:
                self._node(nodes, file, UNKNOWN_KIND, {"id": end, "stack": stack})
        source, target = self._nodes[edge.source], self._nodes[edge.target]
        if along is not None:
            source, target = target, source
        ends = (source[1], target[1], {"since": edge.since, "until": edge.until})
        relationships.setdefault((relation, source[0], target[0]), []).append(ends)

    def _check(self, name: str, field: str, use: str, others: Collection[str], file: str, record: str) -> None:
        """Report a name that the database can't take: it makes names of files of labels and types alike."""
        if name in others:
            what = f"the {field} {name!r} is both a kind and a relation, which the embedded database can't tell apart"
        elif set(name) & set("~,*\0/") or len(name.encode()) > _LONGEST_NAME or name in (".", ".."):
            what = f"the {field} {shortened(name)!r} can't be a {use} of the embedded database"
        else:
            return
        raise InputError(
            f"record {record!r}: {what}",
            where=file,
            remedy="Give it another name in the dataset, or load the graph into a Neo4j server and name that.",
        )


def quoted(name: str) -> str:
    """Return a label, type or variable as Cypher writes it, whatever its letters."""
    return f"`{name.replace('`', '``')}`"


@contextlib.contextmanager
def _held(path: Path, waiting: Waiting) -> Iterator[int]:
    """Share a lock file while the block runs, and yield its descriptor."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                with waiting("another process is making the graph, waiting for it"):
                    fcntl.flock(descriptor, fcntl.LOCK_SH)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    yield descriptor
                    return
        finally:
            os.close(descriptor)


def _clean(parent: Path, replaced: dict[str, Any], digest: str) -> None:
    """Remove former graphs of the same files, and the oldest beyond :data:`KEPT`; none that is in use."""
    marks = sorted(parent.glob("*/graph.json"), key=lambda one: one.stat().st_mtime, reverse=True)
    for place, mark in enumerate(marks):
        folder = mark.parent
        made = json.loads(mark.read_text("utf-8"))
        if folder.name == digest or (place < KEPT and any(made[name] != one for name, one in replaced.items())):
            continue
        with contextlib.suppress(OSError), (parent / f"{folder.name}.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # else it is in use
            if not client.status(folder).running:
                mark.unlink()
                shutil.rmtree(folder, ignore_errors=True)
                Path(lock.name).unlink()
