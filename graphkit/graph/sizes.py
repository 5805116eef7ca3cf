"""The sizes of datasets and runs in the graph."""

from __future__ import annotations

from collections import Counter
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
        The number of each kind of node.
    """

    kind: str
    name: str
    nodes: int
    relationships: int
    kinds: Mapping[str, int] = field(default_factory=dict)


def graph_sizes(store: Store) -> list[Size]:
    """Return the size of each dataset, of each run, and of the whole graph, which comes last.

    Artifacts, commits and chunks, which datasets and runs share, count in the whole graph only.
    """
    found = []
    for row in store.read(cypher("read/datasets")):
        name = str(row["name"])
        found.append(_size(store, "dataset", name, "read/dataset_sizes", {"dataset": name}))
    for row in store.read(cypher("read/runs")):
        name = str(row["id"])
        found.append(_size(store, "run", name, "read/run_sizes", {"run": name}))
    return [*found, _size(store, "graph", "", "read/sizes", {})]


def _size(store: Store, kind: str, name: str, query: str, parameters: Mapping[str, object]) -> Size:
    nodes: Counter[str] = Counter()
    relationships = 0
    for row in store.read(cypher(query), parameters):
        nodes[str(row["kind"])] += int(str(row["nodes"]))
        relationships += int(str(row["relationships"]))
    own = 0 if kind == "graph" else 1  # the node of the dataset or the run itself
    kinds = {} if kind == "graph" else {label: count for label, count in nodes.items() if count}
    return Size(kind, name, nodes.total() + own, relationships, kinds)
