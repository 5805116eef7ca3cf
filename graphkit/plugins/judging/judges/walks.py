"""The walk of an answer in its knowledge graph: where each edge left from, where else it could have gone, how far.

A walk may go against the direction of an edge. An edge leaves from the end that the walk had reached; but where it
leads to that end from a node that the walk had been at, the walk went back there and followed it, unless the next edge
shows that it went on from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge

#: How many neighbours that weren't walked to are shown beside a traversed edge.
NEIGHBOURS = 8

#: Two nodes, and whether the path between them may not go against an edge.
Route = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class Leg:
    """A traversed edge with its place, from 1, the node that it left from and the node that it led to.

    ``joined`` says whether it left from the node that the edge before it led to.
    """

    path: int
    position: int
    edge: Edge
    start: str
    end: str
    joined: bool

    @property
    def backwards(self) -> bool:
        """Whether the walk went against the edge."""
        return self.start != self.edge[0]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The knowledge graph around one walk.

    Attributes
    ----------
    others
        Edges from a node of the walk to neighbours that the walk didn't go to from there, at most ``NEIGHBOURS``.
    totals
        How many such neighbours each node has.
    unheld
        The traversed pairs of nodes that the graph doesn't connect.
    shortest
        The length of the shortest path of each route of the walk, if it is shorter than the walk; else absent.
    """

    others: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    unheld: frozenset[tuple[str, str]] = frozenset()
    shortest: Mapping[Route, int] = field(default_factory=dict)


def legs_of(case: Case) -> list[list[Leg]]:
    """Return the retrieved paths of a case as legs; without an order each edge leaves from its source."""
    if case.ordered:
        directed = not case.directionless
        return [list(_legs(number, path, directed)) for number, path in enumerate(case.walked_paths, 1)]
    return [
        [Leg(number, place, edge, edge[0], edge[2], joined=False) for place, edge in enumerate(path, 1)]
        for number, path in enumerate(case.walked_paths, 1)
    ]


def _legs(number: int, path: Sequence[Edge], directed: bool) -> Iterator[Leg]:
    reached: set[str] = set()
    at = _first_node(path)
    for position, edge in enumerate(path, 1):
        source, _, target = edge
        after = {path[position][0], path[position][2]} if position < len(path) else set()
        goes_on = source in after and target not in after
        joined = at == source or (at == target and not (directed and source in reached and not goes_on))
        # One that isn't joined went back to a node, or began again.
        back = target in reached and source not in reached
        start = at if joined else target if back else source
        at = target if start == source else source
        reached |= {start, at}
        yield Leg(number, position, edge, start, at, joined)


def _first_node(path: Sequence[Edge]) -> str:
    """Return the node that a path begins at: the source of its first edge, unless the second leaves from there."""
    source, _, target = path[0]
    after = {path[1][0], path[1][2]} if len(path) > 1 else {target}
    return target if source in after and target not in after else source


def route_of(case: Case, legs: Sequence[Leg]) -> Route:
    """Return the ends of a path, and whether it goes with every edge; one without directions may go against any."""
    along = not case.directionless and not any(leg.backwards for leg in legs)
    return legs[0].start, legs[-1].end, along


def pair_of(leg: Leg) -> tuple[str, str]:
    """Return the ends of an edge in the order of the walk."""
    return leg.start, leg.end


def draw(seed: str, edges: Iterable[Edge]) -> list[Edge]:
    """Return edges in an order that only their texts and the seed decide, whatever order a file has."""

    def key(edge: Edge) -> bytes:
        text = "\0".join((seed, edge[0], edge[1] or "", edge[2]))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    return sorted(edges, key=key)


def hop_of_chunks(case: Case) -> dict[str, int]:
    """Return the hop at which the walk first came to each retrieved chunk's node: 0 is where a path began.

    A chunk that isn't a node of the walk has none, nor has any chunk of a walk without an order.
    """
    hops: dict[str, int] = {}
    if case.ordered:
        for legs in legs_of(case):
            for leg in legs:
                for node, hop in ((leg.start, leg.position - 1), (leg.end, leg.position)):
                    hops[node] = min(hop, hops.get(node, hop))
    return {chunk.id: hops[chunk.id] for chunk in case.chunks if chunk.id in hops}


def first_fall(best: Mapping[int, float]) -> int | None:
    """Return the first hop whose value is lower than that of the hop before it; None if none is.

    >>> first_fall({0: 2, 1: 3, 3: 1}), first_fall({0: 1, 1: 1})
    (3, None)
    """
    ordered = sorted(best)
    return next((after for before, after in pairwise(ordered) if best[after] < best[before]), None)
