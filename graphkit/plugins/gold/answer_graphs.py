"""The graph in which a question is answered, and the paths in it that lead to the answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

#: The most paths that a question may have; of more, none is gold.
MOST_PATHS = 1_000

#: The most partial bindings that are tried for an answer.
_MOST_TRIED = 100_000

#: Source, relation, target; in a pattern, both ends are terms of a query.
Edge = tuple[str, str, str]


class TooManyPathsError(Exception):
    """More paths lead to an answer than a question may have."""


class AnswerGraph:
    """Edges, found by their relation and their ends.

    ``topics`` are the nodes that the question names, if the graph knows them.
    """

    def __init__(self, edges: Iterable[Edge], topics: Collection[str] = ()) -> None:
        self._out: dict[str, dict[str, dict[str, None]]] = {}
        self._into: dict[str, dict[str, dict[str, None]]] = {}
        self._touching: dict[str, dict[Edge, None]] = {}
        for source, relation, target in edges:
            self._out.setdefault(relation, {}).setdefault(source, {})[target] = None
            self._into.setdefault(relation, {}).setdefault(target, {})[source] = None
            for node in (source, target):
                self._touching.setdefault(node, {})[source, relation, target] = None
        self.topics = [topic for topic in topics if topic in self._touching]

    def name(self, *names: str | None) -> str | None:
        """Return the first of a node's names that the graph has, or None."""
        return next((name for name in names if name is not None and name in self._touching), None)

    def bindings(
        self, patterns: Sequence[Edge], fixed: Mapping[str, str], absent: Collection[str] = ()
    ) -> list[list[Edge]]:
        """Return the edges that match all patterns, for each choice of nodes for the terms that aren't fixed.

        The ``absent`` terms are entities that the graph knows by unknown names: they are different nodes, none of them
        fixed, and among them are as many topics as possible.

        Raise TooManyPathsError.
        """
        found: dict[frozenset[Edge], list[Edge]] = {}
        topics = set(self.topics).difference(fixed.values())
        pending: list[tuple[Mapping[str, str], list[Edge]]] = [(fixed, list(patterns))]
        tried = 0
        while pending:
            bound, left = pending.pop()
            if not left:
                nodes = {bound[term] for term in absent}
                if len(nodes.difference(fixed.values())) == len(absent) and len(nodes & topics) == min(
                    len(absent), len(topics)
                ):
                    edges = [(bound[source], relation, bound[target]) for source, relation, target in patterns]
                    found.setdefault(frozenset(edges), list(dict.fromkeys(edges)))
            else:
                pattern = min(left, key=lambda one: self._size(one, bound))
                others = [one for one in left if one is not pattern]
                for source, target in self._ends(pattern, bound):
                    tried += 1
                    if tried > _MOST_TRIED:
                        raise TooManyPathsError
                    # One term at both ends holds one node: the edge must be a loop.
                    if pattern[0] != pattern[2] or source == target:
                        pending.append(({**bound, pattern[0]: source, pattern[2]: target}, others))
            if len(found) > MOST_PATHS:
                raise TooManyPathsError
        return list(found.values())

    def _size(self, pattern: Edge, bound: Mapping[str, str]) -> int:
        """Return how many edges may match a pattern, as far as its terms are bound."""
        source, relation, target = pattern
        out, into = self._out.get(relation, {}), self._into.get(relation, {})
        sizes = [len(side.get(bound[term], ())) for side, term in ((out, source), (into, target)) if term in bound]
        return min(sizes) if sizes else sum(map(len, out.values()))

    def _ends(self, pattern: Edge, bound: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield the ends of each edge that matches a pattern, as far as its terms are bound."""
        first, relation, last = pattern
        out, into = self._out.get(relation, {}), self._into.get(relation, {})
        source, target = bound.get(first), bound.get(last)
        if source is not None and target is not None:
            yield from [(source, target)] if target in out.get(source, ()) else ()
        elif source is not None:
            yield from ((source, other) for other in out.get(source, ()))
        elif target is not None:
            yield from ((other, target) for other in into.get(target, ()))
        else:
            yield from ((one, other) for one, others in out.items() for other in others)

    def shortest(self, start: str, ends: Collection[str]) -> dict[str, list[list[Edge]]]:
        """Return all shortest paths from a node to each of some others, along edges in either direction.

        A node that can't be reached has none.

        Raise TooManyPathsError.
        """
        before: dict[str, list[tuple[str, Edge]]] = {start: []}
        level = [start]
        while level:
            reached: dict[str, list[tuple[str, Edge]]] = {}
            for node in level:
                for edge in self._touching.get(node, ()):
                    other = edge[2] if edge[0] == node else edge[0]
                    if other not in before:
                        reached.setdefault(other, []).append((node, edge))
            before |= reached
            level = list(reached)
        return {end: self._back(before, end) for end in ends}

    def _back(self, before: Mapping[str, list[tuple[str, Edge]]], end: str) -> list[list[Edge]]:
        found: list[list[Edge]] = []
        pending: list[tuple[str, list[Edge]]] = [(end, [])]
        while pending:
            node, path = pending.pop()
            steps = before.get(node, [])
            if path and not steps:
                found.append(path[::-1])
            if len(found) > MOST_PATHS:
                raise TooManyPathsError
            pending += [(previous, [*path, edge]) for previous, edge in steps]
        return found
