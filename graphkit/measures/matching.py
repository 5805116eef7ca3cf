"""Matching of edges, and the choice among alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Literal, TypeVar

T = TypeVar("T")

#: A gold path, whose parts the caller's function returns.
P = TypeVar("P")

#: Source, relation (None if it has none), target.
Edge = tuple[str, str | None, str]

#: How a walk has a gold edge that it doesn't have as it is: with another relation, or in the other direction.
Otherwise = Literal["relation", "reversed"]

#: The relation that strict comparison gives a traversed edge without one: no gold edge with a relation matches it.
NOT_STATED = "(not stated)"


def same_edge(first: Edge, second: Edge) -> bool:
    """Return whether two edges match: the same ends, and the same relation if both carry one."""
    return (
        first[0] == second[0]
        and first[2] == second[2]
        and (first[1] is None or second[1] is None or first[1] == second[1])
    )


def walked_otherwise(edge: Edge, off: Iterable[Edge]) -> tuple[Otherwise | None, set[Edge]]:
    """Return how edges outside gold show a gold edge that wasn't walked, and those that do; None and none if none does.

    Another relation between the same ends goes before the other direction.

    >>> walked_otherwise(("x", "CALLS", "y"), [("x", "READS", "y"), ("y", "CALLS", "x")])
    ('relation', {('x', 'READS', 'y')})
    """
    source, relation, target = edge
    off = [*off]
    if other := {one for one in off if one[0] == source and one[2] == target}:
        return "relation", other
    turned = {one for one in off if same_edge(one, (target, relation, source))}
    return ("reversed", turned) if turned else (None, set())


def without_relation(edge: Edge) -> Edge:
    """Return an edge without its relation."""
    return (edge[0], None, edge[2])


def without_direction(edge: Edge) -> Edge:
    """Return an edge with its ends in alphabetical order, which hides its direction."""
    return edge if edge[0] <= edge[2] else (edge[2], edge[1], edge[0])


def as_compared(edges: Iterable[Edge], relation: bool, directed: bool) -> set[Edge]:
    """Return edges in the form for comparison: with or without their relation and direction."""
    found = edges if relation else map(without_relation, edges)
    return set(found if directed else map(without_direction, found))


def contained(edges: Iterable[Edge], others: Iterable[Edge], untyped: bool) -> set[Edge]:
    """Return the ``edges`` that match one of ``others``; with ``untyped``, a relation may be missing."""
    if not untyped:
        return set(edges).intersection(others)
    relations: dict[tuple[str, str], set[str | None]] = {}
    for source, relation, target in others:
        relations.setdefault((source, target), set()).add(relation)
    found = set()
    for edge in edges:
        there = relations.get((edge[0], edge[2]))
        if there is not None and (edge[1] is None or None in there or edge[1] in there):
            found.add(edge)
    return found


def best_alternatives(
    units: Sequence[list[P]], items: Callable[[P], set[T]], matched: Callable[[set[T]], set[T]]
) -> tuple[set[T], set[T]]:
    """Return the required items over all units, and those that the run has.

    ``items`` returns what a gold path requires, and ``matched`` which of these the run has. The alternative with the
    largest share of matched items counts; ties go to the first in the order of ``Case.units``. An alternative that
    requires nothing is ignored.
    """
    if len(units) == 1 and len(units[0]) == 1:
        wanted = items(units[0][0])
        return wanted, matched(wanted)
    required: set[T] = set()
    found: set[T] = set()
    for unit in units:
        _, wanted, there = best_alternative(unit, items, matched)
        required |= wanted
        found |= there
    return required, found


def best_alternative(
    unit: list[P], items: Callable[[P], set[T]], matched: Callable[[set[T]], set[T]]
) -> tuple[P | None, set[T], set[T]]:
    """Return the alternative that counts, what it requires, and what the run has of that; None if none requires any."""
    best: tuple[P | None, set[T], set[T]] = (None, set(), set())
    best_share = -1.0
    for path in unit:
        wanted = items(path)
        if wanted:
            there = matched(wanted)
            share = len(there) / len(wanted)
            if share > best_share:
                best_share, best = share, (path, wanted, there)
    return best


_relation_of = itemgetter(1)


def all_typed(edges: set[Edge]) -> bool:
    """Return whether each edge has a relation."""
    return all(map(_relation_of, edges))


def common_subsequence(length: int, matches: Iterable[int]) -> int:
    """Return the length of the longest common subsequence of two sequences.

    ``length`` is that of one; of each item of the other, in order, ``matches`` has a bit for each place where the first
    one has an equal item.

    >>> common_subsequence(3, [0b100, 0b001, 0b010])
    2
    """
    whole = row = (1 << length) - 1
    for there in matches:
        found = row & there
        row = ((row + found) | (row - found)) & whole
    return length - row.bit_count()
