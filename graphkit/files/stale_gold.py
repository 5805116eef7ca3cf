"""Gold that the dataset's own knowledge graph doesn't hold: it says nothing about a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Report
from graphkit.records.ids import repo_of
from graphkit.records.models import Artifact, Compatibility, Edge


@dataclass
class _Graph:
    """What one knowledge graph knows of the nodes and edges that gold names."""

    nodes: dict[str, str | None] = field(default_factory=dict)
    edges: set[tuple[str, str, str]] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    has_nodes: bool = False
    has_edges: bool = False


def stale_gold(dataset: Dataset, compatibility: Iterable[Compatibility], report: Report) -> dict[str, tuple[str, ...]]:
    """Return the questions whose gold the dataset's own knowledge graph doesn't hold, with each reason why.

    Gold that isn't there, or not at the commit at which the question was annotated, says nothing about a run: such a
    question is invalid, and not scored. Without a knowledge graph nothing can be stale.

    Parameters
    ----------
    compatibility
        The dataset's rows, for the commits of stacks.
    report
        Takes what can't be used of the knowledge graph; other files are told elsewhere.
    """
    if not dataset.graphs:
        return {}
    nodes = {
        node
        for _, question in dataset.questions(Report("skip"))
        for path in question.paths
        for step in path.steps
        for node in (step.source, step.target)
    }
    graphs = {name: _read_graph(dataset, files, nodes, report) for name, files in dataset.graphs.items()}
    stacks = {row.id: row.commits for row in compatibility}
    found = {}
    for _, question in dataset.questions(Report("skip")):
        pinned = {**stacks.get(question.stack or "", {}), **question.commits}
        if reasons := dict.fromkeys(_stale(question, _graphs_of(question, graphs), pinned)):
            found[question.id] = tuple(reasons)
    return found


def invalid_reasons(stale: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return why each question with stale gold isn't scored, in a sentence."""
    return {
        name: f"invalid, stale gold: {reasons[0]}" + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")
        for name, reasons in stale.items()
    }


def _stale(question: Any, graphs: list[_Graph], pinned: dict[str, str]) -> Iterator[str]:
    for path in question.paths:
        for step in path.steps:
            reasons = [_reason(step, graph, pinned) for graph in graphs]
            if None not in reasons:
                # The graph that comes nearest tells: a wrong commit says more than a missing node.
                yield sorted((reason for reason in reasons if reason), key=_nearest)[0][1]


def _nearest(reason: tuple[int, str]) -> int:
    return -reason[0]


def _graphs_of(question: Any, graphs: dict[str, _Graph]) -> list[_Graph]:
    """Return the knowledge graphs that a question may be annotated on: the one called like its stack, else all."""
    return [graphs[question.stack]] if question.stack in graphs else list(graphs.values())


def _reason(step: Any, graph: _Graph, pinned: dict[str, str]) -> tuple[int, str] | None:
    """Return why a step isn't gold in a graph, with how near it comes, or None where it is."""
    edge = f"{step.source} -{step.relation or ''}-> {step.target}"
    for node in (step.source, step.target) if graph.has_nodes else ():
        if node not in graph.nodes:
            return 0, f"{edge}: the artifact {node} is not in the knowledge graph"
    for node in (step.source, step.target) if graph.has_nodes else ():
        at, wanted = graph.nodes[node], pinned.get(repo_of(node) or "")
        if at is not None and wanted is not None and at != wanted:
            return 1, f"{edge}: {node} is known at {at}, not at the annotated commit {wanted}"
    # A real relation that the static graph doesn't hold is marked as such.
    if not graph.has_edges or step.evidence == "manual":
        return None
    if step.relation is None:
        found = (step.source, step.target) in graph.pairs
    else:
        found = (step.source, step.relation, step.target) in graph.edges
    return None if found else (2, f"{edge}: the knowledge graph has no such edge")


def _read_graph(dataset: Dataset, files: tuple[Path | None, Path | None], nodes: set[str], report: Report) -> _Graph:
    """Read what a knowledge graph knows of some nodes; the rest of it is not kept."""
    graph = _Graph(has_nodes=files[0] is not None, has_edges=files[1] is not None)
    artifacts: Iterable[Artifact] = dataset.artifacts(files[0], report) if files[0] else ()
    edges: Iterable[Edge] = dataset.edges(files[1], report) if files[1] else ()
    for artifact in artifacts:
        if artifact.id in nodes:
            graph.nodes[artifact.id] = artifact.commit
    for edge in edges:
        if edge.source in nodes and edge.target in nodes:
            graph.edges.add((edge.source, edge.relation, edge.target))
            graph.pairs.add((edge.source, edge.target))
    return graph
