"""The required gold edges of a case, by the alternatives that its scores count, and those that a traversal misses."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from graphkit.measures.case import Case, Gold, aligned
from graphkit.measures.matching import Edge, best_alternative, contained
from graphkit.measures.sided_case import sided

Rows = list[dict[str, Any]]

#: The nodes that a row of a missed edge names at most.
WENT_TO = 3


def missed_edges(case: Case) -> Rows:
    """Return the required gold edges that the run didn't traverse, as the query ``missed-edges`` does.

    Of alternatives the one that misses the smallest share counts, as in ``EdgeRecall``. A traversal that wasn't logged
    misses nothing.
    """
    case = sided(case)
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
    case = sided(case)
    return [
        {
            "path": path,
            "position": position,
            "from_repo": case.places.repo(edge[0]),
            "to_repo": case.places.repo(edge[2]),
            **_edge(edge),
        }
        for path, position, edge in _missed(case, boundaries=True)
    ]


def missed_passages(case: Case) -> Rows:
    """Return the relevant ids that the run didn't retrieve, as the query ``missed-passages`` does.

    A ranking that wasn't logged misses nothing.
    """
    relevant = {node: float(gain) for node, gain in case.question.relevant.items() if gain > 0}
    missed = sorted((-gain, node) for node, gain in relevant.items() if node not in case.ranks)
    found = {"found": len(relevant) - len(missed), "required": len(relevant)}
    return [{"relevant": node, "gain": -gain, **found} for gain, node in missed] if case.chunks_logged else []


def _edge(edge: Edge) -> dict[str, str | None]:
    return {"source": edge[0], "relation": edge[1], "target": edge[2]}


class CountedPath(NamedTuple):
    """A gold path that counts: its required edges, each once, and those of them that the run walked."""

    gold: Gold
    required: set[Edge]
    walked: set[Edge]

    @property
    def missed(self) -> list[tuple[int, Edge]]:
        """The required steps that weren't walked, with their positions."""
        lost = self.required - self.walked
        steps = enumerate(zip(self.gold.edges, self.gold.optional, strict=True))
        return [(position, edge) for position, (edge, optional) in steps if not optional and edge in lost]


@lru_cache(2)  # what judges, counts and shows a question asks one after the other
def counted_paths(case: Case, boundaries: bool) -> list[CountedPath]:
    """Return the gold paths over which EdgeRecall counts a case, or with ``boundaries`` BoundaryRecall.

    Of alternatives it is the one of which the run walked the largest share, of equals the first of ``Case.units``. A
    path that requires nothing, or no edge between repositories, doesn't count.
    """

    def items(gold: Gold) -> set[Edge]:
        return set(case.places.boundary(gold.needed)) if boundaries else gold.needed

    def walked(wanted: set[Edge]) -> set[Edge]:
        return contained(wanted, case.walked, case.untyped)

    case = sided(case)
    found: list[CountedPath] = []
    for unit in case.units:
        best = best_alternative(unit, items, walked)
        if best[0] is not None:
            found.append(CountedPath(best[0], best[1], best[2]))
    return found


def _missed(case: Case, boundaries: bool) -> list[tuple[str, int, Edge]]:
    """Return path, position and edge of each missed step, in the order of the queries."""
    if not case.walk_logged:
        return []
    found: list[tuple[str, int, Edge]] = []
    for path in counted_paths(case, boundaries):
        name = case.path_name(path.gold)
        found += [(name, position, edge) for position, edge in path.missed]
    return sorted(found, key=lambda one: one[:2])


def aligned_with_gold(case: Case) -> Case:
    """Return the case with each traversed edge that gold holds only in the other direction turned around."""
    answer = case.answer
    if answer is None or not answer.traversal:
        return case
    steps = aligned(answer.traversal, case.gold_edges, every=True)
    return Case(case.question, replace(answer, traversal=steps), case.commits, unordered=not case.ordered)
