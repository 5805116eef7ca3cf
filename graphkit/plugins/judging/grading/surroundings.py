"""The knowledge graph around the walks of a run: neighbours that weren't walked to, and shortest paths.

It is read once, before the judge is asked, so that workers need no dataset. The neighbours of walked nodes stay in
memory, and for shortest paths and the neighbourhoods of pools the whole graph as pairs of numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import read_records
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.plugins.judging.judges.walks import NEIGHBOURS, Route, Surroundings, draw, legs_of, pair_of, route_of
from graphkit.records.structs import EdgeStruct, QuestionStruct

if TYPE_CHECKING:
    from numpy.typing import NDArray


def surroundings_of(cases: Mapping[str, Case], dataset: Dataset, lengths: bool = True) -> dict[str, Surroundings]:
    """Return the knowledge graph around the walk of each case; a question without a graph has none.

    A question's graph is the one with the name of its stack, else all of them together. Unusable edges are passed over:
    whoever reads the gold reports them. ``lengths`` says whether shortest paths are wanted.
    """
    groups = by_graph({question: case.question for question, case in cases.items()}, dataset)
    return {
        question: found
        for names, some in groups.items()
        for question, found in surroundings_in({one: cases[one] for one in some}, _edges(dataset, names), lengths)
    }


def by_graph(questions: Mapping[str, QuestionStruct], dataset: Dataset) -> dict[tuple[str, ...], list[str]]:
    """Return the ids of questions by the names of their graphs; a question without a graph isn't there."""
    graphs = {name for name, (_, edges) in dataset.graphs.items() if edges is not None}
    groups: dict[tuple[str, ...], list[str]] = {}
    for question, one in questions.items():
        own = (one.stack,) if one.stack is not None and one.stack in dataset.graphs else tuple(sorted(graphs))
        if own and graphs.issuperset(own):
            groups.setdefault(own, []).append(question)
    return groups


def distances_in(dataset: Dataset, names: Iterable[str]) -> Distances:
    """Return the graph of these names, read once; unusable edges are passed over."""
    found = Distances()
    for edge in _edges(dataset, names):
        found.add(edge.source, edge.target)
    return found


def texts_in(files: Iterable[Path], problems: Problems) -> dict[str, str]:
    """Return the texts of chunks by their ids, as files (.jsonl with id and text) state them."""
    from graphkit.records.models import Chunk

    chunks = (chunk for file in files for _, chunk in read_records(file, Chunk, problems))
    return {chunk.id: chunk.text for chunk in chunks if chunk.text is not None}


def _edges(dataset: Dataset, names: Iterable[str]) -> Iterator[EdgeStruct]:
    for name in names:
        if (path := dataset.graphs[name][1]) is not None:
            yield from dataset.edges(path, Problems("skip"))


def surroundings_in(
    cases: Mapping[str, Case], edges: Iterable[EdgeStruct], lengths: bool = True
) -> Iterator[tuple[str, Surroundings]]:
    """Yield the surroundings of each case in one graph, whose edges are read once."""
    nodes = {end for case in cases.values() for source, _, target in case.walked for end in (source, target)}
    near: dict[str, dict[str, Edge]] = {node: {} for node in nodes}
    distances = Distances()
    for edge in edges:
        if lengths:
            distances.add(edge.source, edge.target)
        if edge.source == edge.target:
            continue
        found: Edge = (edge.source, edge.relation, edge.target)
        for node, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if node in near:  # of parallel edges one stands for all, whatever their order
                near[node][other] = min(
                    found, near[node].get(other, found), key=lambda one: (one[0], one[1] or "", one[2])
                )
    for question, case in cases.items():
        yield question, _of_case(question, case, near, distances if lengths else None)


def _of_case(
    question: str, case: Case, near: Mapping[str, Mapping[str, Edge]], distances: Distances | None
) -> Surroundings:
    paths = legs_of(case)
    legs = [leg for path in paths for leg in path]
    gone: dict[str, set[str]] = {}
    for leg in legs:
        gone.setdefault(leg.start, set()).add(leg.end)
        gone.setdefault(leg.end, set()).add(leg.start)
    others = {
        leg.start: [edge for other, edge in near[leg.start].items() if other not in gone[leg.start]] for leg in legs
    }
    shortest: dict[Route, int] = {}
    for path in paths if distances is not None and case.ordered else ():
        route = route_of(case, path)
        if distances is not None and route[0] != route[1] and all(leg.joined for leg in path):
            length = distances.below(*route, len(path))
            if length is not None:
                shortest[route] = min(length, shortest.get(route, length))
    return Surroundings(
        others={node: tuple(draw(question, some)[:NEIGHBOURS]) for node, some in others.items() if some},
        totals={node: len(some) for node, some in others.items() if some},
        unheld=frozenset(pair_of(leg) for leg in legs if leg.end not in near[leg.start]),
        shortest=shortest,
    )


class Distances:
    """Lengths of shortest paths and neighbourhoods in a graph, found by breadth-first search over arrays."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources, self._targets = array("q"), array("q")

    def add(self, source: str, target: str) -> None:
        """Add an edge; all edges come before the first question."""
        self._sources.append(self._numbers.setdefault(source, len(self._numbers)))
        self._targets.append(self._numbers.setdefault(target, len(self._numbers)))

    @cached_property
    def _along(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._rows(self._sources, self._targets)

    @cached_property
    def _any_way(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._rows(self._sources + self._targets, self._targets + self._sources)

    def _rows(self, sources: array[int], targets: array[int]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return where the neighbours of each node begin, and all neighbours (compressed sparse rows)."""
        import numpy

        begins, ends = numpy.array(sources, dtype=numpy.int64), numpy.array(targets, dtype=numpy.int64)
        counts = numpy.bincount(begins, minlength=len(self._numbers))
        return numpy.concatenate([[0], numpy.cumsum(counts)]), ends[numpy.argsort(begins, kind="stable")]

    def below(self, start: str, end: str, along: bool, length: int) -> int | None:
        """Return the length of the shortest path if it is below a length, else None.

        ``along`` says whether the path may only go with the direction of its edges.
        """
        import numpy

        first, last = self._numbers.get(start), self._numbers.get(end)
        if first is None or last is None:
            return None
        rings = self._rings(numpy.array([first]), self._along if along else self._any_way)
        for steps, ring in enumerate(islice(rings, max(0, length - 1)), 1):
            if last in ring:
                return steps
        return None

    def around(self, nodes: Iterable[str], hops: int) -> list[list[str]]:
        """Return the other nodes at 1, 2, ... hops from the nearest of some nodes, whichever way the edges go."""
        import numpy

        first = numpy.array([self._numbers[node] for node in nodes if node in self._numbers], dtype=numpy.int64)
        rings = islice(self._rings(first, self._any_way), hops)
        return [[self._names[number] for number in ring.tolist()] for ring in rings]

    @cached_property
    def _names(self) -> list[str]:
        return list(self._numbers)

    def _rings(self, edge: NDArray[Any], rows: tuple[NDArray[Any], NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """Yield the nodes at each further step from some nodes, until there are none."""
        import numpy

        starts, ends = rows
        seen = numpy.zeros(len(self._numbers), dtype=bool)
        seen[edge] = True
        while edge.size:
            counts = starts[edge + 1] - starts[edge]
            total = int(counts.sum())
            offsets = numpy.repeat(starts[edge] - (numpy.cumsum(counts) - counts), counts) + numpy.arange(total)
            found = ends[offsets]
            edge = numpy.unique(found[~seen[found]])
            seen[edge] = True
            if edge.size:
                yield edge
