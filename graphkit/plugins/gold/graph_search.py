"""Searches of a dataset's knowledge graphs, whose edges are held in memory: what they hold, and what nobody reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.records.commits import CommitGraph
from graphkit.records.structs import QuestionStruct


class Reached(NamedTuple):
    """A node that a search reached: from which one, by which relation; the start has neither."""

    before: str | None
    relation: str | None


@dataclass
class LoadedGraph:
    """The nodes and edges of one knowledge graph.

    Attributes
    ----------
    nodes
        The kind of each node, empty if none is stated.
    edges
        The relations from each node to each of its neighbours.
    spans
        Since and until which commits an edge exists, of those that only some versions have.
    """

    nodes: dict[str, str] = field(default_factory=dict)
    edges: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    spans: dict[tuple[str, str, str], list[tuple[str | None, str | None]]] = field(default_factory=dict)

    def at(self, pins: Mapping[str, str], commits: CommitGraph, surely: bool) -> LoadedGraph:
        """Return the graph without edges that don't exist at some commits, by repository.

        Of an edge of which the known parents don't tell, ``surely`` leaves it out. Without a commit of the repository
        in which its source lies, an edge exists.
        """
        out = set()
        for (source, relation, target), spans in self.spans.items():
            repo = commits.places.repo(source) or ""
            if (sha := pins.get(repo)) is not None:
                found = {commits.within(repo, sha, *span) for span in spans}
                if True not in found and (surely or None not in found):
                    out.add((source, relation, target))
        if not out:
            return self
        edges = {
            source: {
                target: kept
                for target, relations in targets.items()
                if (kept := {one for one in relations if (source, one, target) not in out})
            }
            for source, targets in self.edges.items()
        }
        return LoadedGraph(self.nodes, edges)

    @property
    def size(self) -> int:
        """The number of edges."""
        return sum(len(relations) for targets in self.edges.values() for relations in targets.values())

    def holds(self, source: str, relation: str | None, target: str) -> bool:
        """Return whether it holds an edge; one without a relation may have any."""
        there = self.edges.get(source, {}).get(target, set())
        return relation in there if relation is not None else bool(there)

    def reached(self, start: str, until: str | None = None) -> dict[str, Reached]:
        """Return each node that edges lead to from a start, nearest first; the search ends at ``until``."""
        found = {start: Reached(None, None)}
        row = [start]
        while row and until not in found:
            after = []
            for node in row:
                for target, relations in self.edges.get(node, {}).items():
                    if target not in found:
                        found[target] = Reached(node, min(relations))
                        after.append(target)
            row = after
        return found

    def path(self, start: str, end: str) -> list[tuple[str, str, str]] | None:
        """Return a shortest path of at least one edge; None if none leads there.

        >>> graph = LoadedGraph({}, {"a": {"b": {"R"}}, "b": {"c": {"S"}}})
        >>> graph.path("a", "c"), graph.path("c", "a"), graph.path("a", "a")
        ([('a', 'R', 'b'), ('b', 'S', 'c')], None, None)
        """
        found = self.reached(start, end)
        if end == start or end not in found:
            return None
        steps: list[tuple[str, str, str]] = []
        while (one := found[end]).before is not None:
            steps.append((one.before, one.relation or "", end))
            end = one.before
        return steps[::-1]


def load_graphs(dataset: Dataset, problems: Problems) -> dict[str, LoadedGraph]:
    """Return the knowledge graphs of a dataset whose edges are given, by name."""
    found = {}
    for name, (artifacts, edges) in dataset.graphs.items():
        if edges is None:
            continue
        graph = found[name] = LoadedGraph()
        if artifacts is not None:
            graph.nodes = {one.id: one.kind or "" for one in dataset.artifacts(artifacts, problems)}
        always = set()
        for edge in dataset.edges(edges, problems):
            if edge.since is not None or edge.until is not None:
                graph.spans.setdefault((edge.source, edge.relation, edge.target), []).append((edge.since, edge.until))
            else:
                always.add((edge.source, edge.relation, edge.target))
            graph.edges.setdefault(edge.source, {}).setdefault(edge.target, set()).add(edge.relation)
            for node in (edge.source, edge.target):
                graph.nodes.setdefault(node, "")
        graph.spans = {edge: spans for edge, spans in graph.spans.items() if edge not in always}
    return found


def graphs_of(question: QuestionStruct, graphs: dict[str, LoadedGraph]) -> list[LoadedGraph]:
    """Return the knowledge graphs of a question: the one with the name of its stack, else all."""
    own = graphs.get(question.stack) if question.stack is not None else None
    return [own] if own is not None else [*graphs.values()]


def path_text(steps: Iterable[tuple[str, str, str]]) -> str:
    """Return a path as text.

    >>> path_text([("a", "R", "b"), ("b", "S", "c")])
    'a -R-> b -S-> c'
    """
    first, *others = steps
    return f"{first[0]} -{first[1]}-> {first[2]}" + "".join(f" -{one[1]}-> {one[2]}" for one in others)
