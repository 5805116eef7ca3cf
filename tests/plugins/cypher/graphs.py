"""Graphs in a database, and what a query binds in them, by the ids of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.plugins.cypher.cypher_text import parsed
from graphkit.plugins.cypher.provenance import TracedQuery, traced

Edge = tuple[str, str, str]


def fill(store: Store, nodes: Iterable[Mapping[str, Any]], edges: Iterable[Edge]) -> None:
    """Write nodes (``label`` or ``kind`` is the label) and edges (source, type, target) into an empty database."""
    for node in nodes:
        properties = {key: value for key, value in node.items() if key != "label"}
        store.write(f"CREATE (n:{node.get('label') or node['kind']}) SET n = $properties", {"properties": properties})
    for source, relation, target in edges:
        store.write(
            f"MATCH (a {{id: $source}}), (b {{id: $target}}) CREATE (a)-[:{relation}]->(b)",
            {"source": source, "target": target},
        )


def rows_of(store: Store, text: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
    """Return the rows of a query as the driver gives them."""
    with store._driver.session(database=store.database) as session:
        return [list(record.values()) for record in session.run(text, dict(parameters or {}))]


def bound(
    store: Store, cypher: str, parameters: Mapping[str, Any] | None = None
) -> tuple[list[list[Any]], set[str], set[Edge]]:
    """Return the rows of a query's trace, and the ids of the nodes and the edges that it binds."""
    return bound_by(store, traced(parsed(cypher)), parameters)


def bound_by(
    store: Store, trace: TracedQuery, parameters: Mapping[str, Any] | None = None
) -> tuple[list[list[Any]], set[str], set[Edge]]:
    """Return the same of a query that was traced before."""
    rows = rows_of(store, trace.text, parameters)
    found = trace.collect(rows)
    ids = {key: str(node["id"]) for key, node in found.nodes.items()}
    edges = {(ids[start], str(edge["_type"]), ids[end]) for start, end, edge in found.edges.values()}
    return trace.results(rows), set(ids.values()), edges
