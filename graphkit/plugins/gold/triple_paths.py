"""Converts sets or lists of triples to gold paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

Triple = tuple[str, str | None, str]


def path_of_triples(triples: Iterable[Triple]) -> dict[str, Any]:
    """Return a gold path with a step for each triple."""
    return {
        "steps": [{"source": source, "relation": relation, "target": target} for source, relation, target in triples]
    }


def outwards(triples: Sequence[Triple], starts: Iterable[str]) -> list[Triple]:
    """Order a set of triples as a traversal from some nodes reaches them, in either direction.

    Unreachable triples follow in their order.
    """
    touching: dict[str, list[int]] = {}
    for number, (source, _, target) in enumerate(triples):
        for node in {source, target}:
            touching.setdefault(node, []).append(number)
    order: dict[int, None] = {}
    reached = list(dict.fromkeys(starts))
    seen = set(reached)
    for node in reached:  # grows meanwhile
        for number in touching.get(node, ()):
            order.setdefault(number)
            for end in (triples[number][0], triples[number][2]):
                if end not in seen:
                    seen.add(end)
                    reached.append(end)
    return [triples[number] for number in (*order, *(n for n in range(len(triples)) if n not in order))]


def chains(triples: Iterable[Triple]) -> list[list[Triple]]:
    """Return the chains that triples form: each triple continues a chain that ends at its source, or begins one."""
    found: list[list[Triple]] = []
    ends: dict[str, deque[list[Triple]]] = {}
    for triple in triples:
        here = ends.get(triple[0])
        if here:
            chain = here.popleft()
            chain.append(triple)
        else:
            found.append(chain := [triple])
        ends.setdefault(triple[2], deque()).append(chain)
    return found
