"""Shared parts of the tests of loading: a dataset with its run in the graph, and the content of a graph."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import graphkit
from graphkit.database.store import Store
from graphkit.graph.runs import load_run
from tests.helpers.datasets import read_jsonl, write_jsonl

RUN = "storefront-graph"


#: What tells when something was written, not what.
VOLATILE = ("loaded_at", "folder")


#: What tells a node from others of its label.
_NAME = (
    "coalesce({0}.key, CASE WHEN {0}:Chunk THEN {0}.digest END, {0}.dataset + '/' + {0}.id, {0}.id, {0}.name, "
    "{0}.run + '/' + {0}.question, {0}.question, {0}.measure, {0}.judge)"
)


def contents(store: Store) -> Counter[str]:
    """Return every node and relationship with its properties but the database's form, and how often it is there."""
    nodes = store.read("MATCH (n) WHERE NOT n:Graphkit RETURN labels(n) AS kind, properties(n) AS properties")
    edges = store.read(
        "MATCH (a)-[r]->(b) RETURN type(r) AS kind, properties(r) AS properties, "
        f"{_NAME.format('a')} AS source, {_NAME.format('b')} AS target"
    )
    return Counter(json.dumps(_steady(row), sort_keys=True, default=str) for row in [*nodes, *edges])


def whole(store: Store) -> Counter[str]:
    """Return every node, and every relationship with all of both ends, and how often it is there; times apart."""
    nodes, found = {}, Counter[str]()
    for row in store.read("MATCH (n) RETURN id(n) AS id, n"):
        node = {name: value for name, value in dict(row["n"]).items() if name != "loaded_at"}  # type: ignore[call-overload]
        nodes[row["id"]] = json.dumps(node, sort_keys=True)
        found[nodes[row["id"]]] += 1
    for row in store.read("MATCH (a)-[r]->(b) RETURN id(a) AS a, id(b) AS b, r"):
        found[f"{nodes[row['a']]} {json.dumps(row['r'], sort_keys=True)} {nodes[row['b']]}"] += 1
    return found


def _steady(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "properties": {name: one for name, one in row["properties"].items() if name not in VOLATILE}}


def load_all(store: Store, dataset: Path, run: str = RUN) -> None:
    """Load a dataset and one of its runs."""
    graphkit.load(store, dataset)
    load_run(store, dataset.name, run, dataset / "runs" / f"{run}.jsonl")


def change(dataset: Path, name: str, **fields: Any) -> None:
    """Change one question of a dataset."""
    records = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", [{**one, **(fields if one["id"] == name else {})} for one in records])
