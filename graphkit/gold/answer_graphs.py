"""The graph in which a question is answered, from its own row or a file, and the paths that lead to its answers."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.gold.public_rows import GoldRow, UnusableRowError, read_rows
from graphkit.records.aliases import EDGE

#: The most paths that a question may have; of more, none is gold.
MOST_PATHS = 1_000

#: The most partial bindings that are tried for an answer.
_MOST_TRIED = 100_000

#: The fields of a row with its triples, and with the entities that the question names.
GRAPH, TOPICS = "graph", "q_entity"

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

    def bindings(self, patterns: Sequence[Edge], choices: Mapping[str, Collection[str]]) -> list[list[Edge]]:
        """Return the edges that match all patterns, for each choice of nodes for the terms.

        A term without ``choices`` may be any node.

        Raise TooManyPathsError.
        """
        found: dict[frozenset[Edge], list[Edge]] = {}
        fixed = {term: next(iter(nodes)) for term, nodes in choices.items() if len(nodes) == 1}
        pending: list[tuple[dict[str, str], list[Edge]]] = [(fixed, list(patterns))]
        tried = 0
        while pending:
            bound, left = pending.pop()
            if not left:
                edges = [(bound[source], relation, bound[target]) for source, relation, target in patterns]
                found.setdefault(frozenset(edges), list(dict.fromkeys(edges)))
            else:
                pattern = min(left, key=lambda one: self._size(one, bound))
                others = [one for one in left if one is not pattern]
                for source, target in self._ends(pattern, bound):
                    more = {pattern[0]: source, pattern[2]: target}
                    tried += 1
                    if tried > _MOST_TRIED:
                        raise TooManyPathsError
                    # A term that is both ends holds the target: the edge must be a loop.
                    if more[pattern[0]] == source and all(
                        node in choices.get(term, (node,)) for term, node in more.items()
                    ):
                        pending.append((bound | more, others))
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


class GivenGraphs:
    """The graphs of a file: one that is of all questions, or one in each row, by the row's id.

    Graphs of single questions wait in a temporary file.

    Raises
    ------
    InputError
        The file can't be read, or a row is neither an edge nor holds a graph.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._file = stack.enter_context(tempfile.TemporaryFile(prefix="graphkit-"))
            problems = Problems()
            rows = read_rows(self._path, False, problems)
            self._whole = AnswerGraph(edge for row in rows for edge in self._edge(row))
            problems.raise_if_refused()
            self._closing = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.close()

    def _edge(self, row: GoldRow) -> Iterator[Edge]:
        """Yield the edge of a row; keep the graph of a question."""
        try:
            if row.get(GRAPH) is None:
                yield row.text("source"), row.text("relation", *EDGE["relation"]), row.text("target")
            elif row.key is None:
                raise UnusableRowError("the row has a graph, but no id")
            else:
                written = msgspec.json.encode([_edges(row), row.texts(TOPICS)])
                self._places[row.key] = self._file.seek(0, 2), len(written)
                self._file.write(written)
        except UnusableRowError as error:
            remedy = "Each row is an edge (source, relation, target), or has the id of a question and its 'graph'."
            raise InputError(error.what, where=row.where, remedy=remedy) from None

    def of(self, question: str | None) -> AnswerGraph | None:
        """Return the graph of a question; None if the file has graphs of single questions, and not of this one."""
        if not self._places:
            return self._whole
        if question not in self._places:
            return None
        place, size = self._places[question]
        self._file.seek(place)
        edges, topics = msgspec.json.decode(self._file.read(size))
        return AnswerGraph(map(tuple, edges), topics)


def _edges(row: GoldRow) -> list[Edge]:
    """Return the triples of a row's graph; one with an empty part leads nowhere."""
    given = row.table(GRAPH, ("head", "relation", "tail"))
    return [(one[0], one[1].strip(), one[2]) for one in given if all(isinstance(part, str) and part for part in one)]


def answer_graph(row: GoldRow) -> AnswerGraph | None:
    """Return the graph of a row's question: its own, else that of the import; None if neither is there.

    Raise UnusableRowError if the row's own graph can't be read.
    """
    if row.get(GRAPH) is not None:
        return AnswerGraph(_edges(row), row.texts(TOPICS))
    return row.graphs.of(row.key) if row.graphs is not None else None
