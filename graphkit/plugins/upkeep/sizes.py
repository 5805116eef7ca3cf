"""The sizes of datasets and runs in the graph."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from graphkit.database.store import Store
from graphkit.graph.queries import cypher


@dataclass(frozen=True)
class Size:
    """The number of nodes and relationships of a dataset, of a run, or of the graph.

    Attributes
    ----------
    kinds
        The number of each kind of node; empty for the graph.
    bytes
        The bytes on disk; None if the database doesn't show them. Those of a dataset or a run are an estimate: of the
        files of each kind of node and relationship, its share by number.
    """

    kind: str
    name: str
    nodes: int
    relationships: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    bytes: int | None = None


def graph_sizes(store: Store) -> list[Size]:
    """Return the size of each dataset, of each run, and of the whole graph, which comes last.

    Commits, which datasets share, count in the whole graph only.
    """
    files = store.bytes_by_kind()
    datasets = [str(row["name"]) for row in store.read(cypher("read/datasets"))]
    runs = [str(row["id"]) for row in store.read(cypher("read/runs"))]
    found = _sizes(store, "dataset", datasets, files) + _sizes(store, "run", runs, files)
    counts = store.read(cypher("read/sizes"))
    nodes, relationships = (sum(int(str(row[of])) for row in counts) for of in ("nodes", "relationships"))
    return [*found, Size("graph", "", nodes, relationships, bytes=None if files is None else sum(files.values()))]


def _sizes(store: Store, owner: str, names: list[str], files: Mapping[str, int] | None) -> list[Size]:
    """Return the sizes of all datasets or of all runs, in the order of their names."""
    nodes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    relationships: defaultdict[str, Counter[str]] = defaultdict(Counter)
    wholes: Counter[str] = Counter()
    for row in store.read(cypher(f"read/{owner}_sizes")):
        name, kind = str(row["name"]), str(row["kind"])
        for counts, of in ((nodes, "nodes"), (relationships, "relationships")):
            if count := int(str(row[of])):
                counts[name][kind] += count
                wholes[kind] += count

    def size(name: str) -> Size:
        own = nodes[name] + relationships[name]
        shares = (files[kind] * count / wholes[kind] for kind, count in own.items() if kind in files) if files else ()
        about = None if files is None else round(math.fsum(shares))
        return Size(owner, name, nodes[name].total(), relationships[name].total(), dict(nodes[name]), about)

    return [size(name) for name in names]
