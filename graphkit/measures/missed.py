"""The gold edges that a traversal misses: the rows of the named queries, from a case."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge, contained
from graphkit.records.ids import crosses, repo_of

Rows = list[dict[str, Any]]

#: The nodes that a row of a missed edge names at most.
WENT_TO = 3


def missed_edges(case: Case) -> Rows:
    """Return the required gold edges that the run didn't traverse, as the query ``missed-edges`` does.

    Of alternatives the one that misses the smallest share counts, as in ``EdgeRecall``. A traversal that wasn't logged
    misses nothing.
    """
    went: dict[str, dict[str, None]] = defaultdict(dict)
    for path in case.walked_paths:
        for source, _, target in path:
            went[source][target] = None
    return [
        {
            "path": path,
            "position": position,
            **_edge(edge),
            "went_to": [*went[edge[0]]][:WENT_TO] if edge[0] in went else [],
        }
        for path, position, edge in _missed(case, boundaries=False)
    ]


def missed_boundaries(case: Case) -> Rows:
    """Return the required gold edges between repositories that weren't traversed, as ``missed-boundaries`` does.

    Of alternatives the one that misses the smallest share of its boundaries counts, as in ``BoundaryRecall``.
    """
    return [
        {
            "path": path,
            "position": position,
            "from_repo": repo_of(edge[0]),
            "to_repo": repo_of(edge[2]),
            **_edge(edge),
        }
        for path, position, edge in _missed(case, boundaries=True)
    ]


def _edge(edge: Edge) -> dict[str, str | None]:
    return {"source": edge[0], "relation": edge[1], "target": edge[2]}


def _missed(case: Case, boundaries: bool) -> list[tuple[str, int, Edge]]:
    """Return path, position and edge of each missed step, in the order of the queries."""
    if not case.walk_logged:
        return []
    found: list[tuple[str, int, Edge]] = []
    for unit in case.units:
        options = [(gold, wanted) for gold in unit if (wanted := _wanted(gold, boundaries))]
        choices = [(_share(case, wanted), gold, wanted) for gold, wanted in options]
        if not choices:
            continue
        _, gold, wanted = min(choices, key=lambda one: one[0])
        edges = {edge for _, edge in wanted}
        lost = edges - contained(edges, case.walked, case.untyped)
        name = gold.id if gold.id is not None else str(case.gold.index(gold))
        found += [(name, position, edge) for position, edge in wanted if edge in lost]
    return sorted(found, key=lambda one: one[:2])


def _wanted(gold: Gold, boundaries: bool) -> list[tuple[int, Edge]]:
    """Return the required steps of a path with their positions, or those between repositories."""
    steps = enumerate(zip(gold.edges, gold.optional, strict=True))
    return [
        (position, edge)
        for position, (edge, optional) in steps
        if not optional and (not boundaries or crosses(edge[0], edge[2]))
    ]


def _share(case: Case, wanted: list[tuple[int, Edge]]) -> float:
    edges = {edge for _, edge in wanted}
    return (len(edges) - len(contained(edges, case.walked, case.untyped))) / len(edges)
