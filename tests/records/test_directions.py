"""Logged edges compared with the knowledge graph, and the direction and relation that it adds."""

from __future__ import annotations

import pytest

from graphkit.records.directions import KnowledgeEdges, PlacedEdge
from graphkit.records.structs import EdgeStruct

#: a calls and imports b; b calls c; c and d call each other.
EDGES = [("a", "CALLS", "b"), ("a", "IMPORTS", "b"), ("b", "CALLS", "c"), ("c", "CALLS", "d"), ("d", "CALLS", "c")]
GRAPH = KnowledgeEdges(EdgeStruct(source, target=target, relation=relation) for source, relation, target in EDGES)


@pytest.mark.parametrize(
    ("source", "relation", "target", "held"),
    [
        ("a", "CALLS", "b", "forward"),
        ("b", "CALLS", "a", "reversed"),
        ("b", "IMPORTS", "c", "other"),
        ("c", "IMPORTS", "b", "other"),
        ("a", "CALLS", "c", "unknown"),
        ("a", None, "b", "forward"),
        ("c", None, "b", "reversed"),
    ],
)
def test_directed_edges_stay(source: str, relation: str | None, target: str, held: str) -> None:
    """An edge with a logged direction is never turned."""
    placed = GRAPH.placed(source, relation, target)
    assert (placed.source, placed.relation, placed.target) == (source, relation, target)
    assert (placed.held, placed.turned, placed.related) == (held, False, False)


@pytest.mark.parametrize(
    ("given", "placed"),
    [
        # The knowledge graph holds it the other way, by this relation.
        (("b", "CALLS", "a"), PlacedEdge("a", "CALLS", "b", "forward", turned=True)),
        # It holds another relation, the other way only.
        (("c", "IMPORTS", "b"), PlacedEdge("b", "IMPORTS", "c", "other", turned=True)),
        # Another relation in this direction: it may stand as it is.
        (("b", "IMPORTS", "c"), PlacedEdge("b", "IMPORTS", "c", "other")),
        # Both ways: neither is better.
        (("d", "CALLS", "c"), PlacedEdge("d", "CALLS", "c", "forward", directed=False)),
        (("d", "IMPORTS", "c"), PlacedEdge("d", "IMPORTS", "c", "other", directed=False)),
        (("c", "CALLS", "a"), PlacedEdge("c", "CALLS", "a", "unknown", directed=False)),
        # Neither direction nor relation is logged: both are given back where one edge lies between.
        (("c", None, "b"), PlacedEdge("b", "CALLS", "c", "forward", turned=True, related=True)),
        # Two relations lie there: which is meant can't be said.
        (("b", None, "a"), PlacedEdge("a", None, "b", "forward", turned=True)),
    ],
)
def test_lost_directions_are_given_back(given: tuple[str, str | None, str], placed: PlacedEdge) -> None:
    """An edge without direction is turned if the knowledge graph holds only its reverse."""
    assert GRAPH.placed(*given, directed=False) == placed


def test_a_lost_relation_is_given_back() -> None:
    """A missing relation becomes the only one between two nodes; a relation gets the graph's spelling."""
    assert GRAPH.placed("b", None, "c") == PlacedEdge("b", "CALLS", "c", "forward", related=True)
    assert GRAPH.placed("a", None, "b") == PlacedEdge("a", None, "b", "forward")
    assert GRAPH.placed("b", "calls", "c") == PlacedEdge("b", "CALLS", "c", "forward")


def test_what_lies_between_what_was_opened() -> None:
    """All edges between a node and earlier ones are traversed, as the knowledge graph holds them."""
    found = {(edge.source, edge.relation, edge.target) for edge in GRAPH.between({"a", "d"}, "c")}
    assert found == {("c", "CALLS", "d"), ("d", "CALLS", "c")}
    assert {edge.relation for edge in GRAPH.between({"a"}, "b")} == {"CALLS", "IMPORTS"}
    assert list(GRAPH.between({"a"}, "c")) == []
