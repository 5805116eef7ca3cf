"""Gold that the dataset's own knowledge graph doesn't hold: it says nothing about a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.spool import Spool
from graphkit.records.commits import CommitGraph
from graphkit.records.evidence import beyond_static
from graphkit.records.ids import repo_of
from graphkit.records.structs import ArtifactStruct, EdgeStruct, QuestionStruct, StepStruct


@dataclass
class _Graph:
    """The nodes and edges named by gold that one knowledge graph holds."""

    nodes: dict[str, str | None] = field(default_factory=dict)
    edges: set[tuple[str, str, str]] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    has_nodes: bool = False
    has_edges: bool = False


class GoldCheck:
    """Tells which questions have stale gold: is shown all questions, then the knowledge graphs, and asked last.

    Gold that a knowledge graph doesn't hold, or not at the commit at which the question was annotated, says nothing
    about a run: such a question is invalid, and not scored. Without a knowledge graph nothing can be stale. Of the
    graphs no more is kept than what some gold names.
    """

    def __init__(self, dataset: Dataset, commits: CommitGraph) -> None:
        self._graphs = {
            name: _Graph(has_nodes=artifacts is not None, has_edges=edges is not None)
            for name, (artifacts, edges) in dataset.graphs.items()
        }
        self.commits = commits
        self._nodes: set[str] = set()

    def show(self, question: QuestionStruct) -> None:
        """Take note of what the gold of a question names."""
        if self._graphs:
            for path in question.paths:
                for step in path.steps:
                    self._nodes.add(step.source)
                    self._nodes.add(step.target)

    def artifacts(self, graph: str, artifacts: Iterable[ArtifactStruct]) -> Iterator[ArtifactStruct]:
        """Pass the artifacts of a knowledge graph on, and take note of those that gold names."""
        nodes, known = self._nodes, self._graphs[graph].nodes
        for artifact in artifacts:
            if artifact.id in nodes:
                known[artifact.id] = artifact.commit
            yield artifact

    def edges(self, graph: str, edges: Iterable[EdgeStruct]) -> Iterator[EdgeStruct]:
        """Pass the edges of a knowledge graph on, and take note of those between nodes that gold names."""
        nodes, known = self._nodes, self._graphs[graph]
        for edge in edges:
            if edge.source in nodes and edge.target in nodes:
                known.edges.add((edge.source, edge.relation, edge.target))
                known.pairs.add((edge.source, edge.target))
            yield edge

    def reasons(self, question: QuestionStruct) -> tuple[str, ...]:
        """Return why the gold of a question is stale, each reason once; none where it isn't."""
        if not self._graphs:
            return ()
        # The one called like its stack, else all: on these a question may be annotated.
        stack = question.stack or ""
        own = question.stack is not None and stack in self._graphs
        graphs = [self._graphs[stack]] if own else list(self._graphs.values())
        return tuple(dict.fromkeys(_stale(question, graphs, self.commits)))


def stale_gold(
    dataset: Dataset,
    commits: CommitGraph,
    problems: Problems,
    questions: Sequence[QuestionStruct] = (),
) -> dict[str, tuple[str, ...]]:
    """Return the questions whose gold the dataset's own knowledge graph doesn't hold, with each reason why.

    Parameters
    ----------
    commits
        What the dataset knows about commits, for those of stacks, and for what their names mean.
    problems
        Receives what can't be used of the knowledge graph; other files are reported elsewhere.
    questions
        Those of the dataset, where they have been read already.
    """
    if not dataset.graphs:
        return {}
    check = GoldCheck(dataset, commits)
    with Spool(QuestionStruct) as read:
        for question in questions or read.keep(question for _, question in dataset.questions(Problems("skip"))):
            check.show(question)
        for name, (artifacts, edges) in dataset.graphs.items():
            if artifacts is not None:
                for _ in check.artifacts(name, dataset.artifacts(artifacts, problems)):
                    pass
            if edges is not None:
                for _ in check.edges(name, dataset.edges(edges, problems)):
                    pass
        return {question.id: reasons for question in questions or read if (reasons := check.reasons(question))}


def invalid_reason(stale: Sequence[str]) -> str | None:
    """Return in a sentence why a question with stale gold isn't scored, or None where none of it is stale."""
    if not stale:
        return None
    return f"invalid, stale gold: {stale[0]}" + (f" (and {len(stale) - 1} more)" if len(stale) > 1 else "")


def _stale(question: QuestionStruct, graphs: list[_Graph], commits: CommitGraph) -> Iterator[str]:
    pinned = commits.pins(question)
    for path in question.paths:
        for step in path.steps:
            reasons = [_reason(step, graph, pinned, commits) for graph in graphs]
            if None not in reasons:
                # The nearest graph gives the reason: a wrong commit says more than a missing node.
                yield sorted((reason for reason in reasons if reason), key=_nearest)[0][1]


def _nearest(reason: tuple[int, str]) -> int:
    return -reason[0]


def _reason(step: StepStruct, graph: _Graph, pinned: dict[str, str], commits: CommitGraph) -> tuple[int, str] | None:
    """Return why a step isn't gold in a graph, with how near it comes, or None where it is."""
    edge = f"{step.source} -{step.relation or ''}-> {step.target}"
    for node in (step.source, step.target) if graph.has_nodes else ():
        if node not in graph.nodes:
            return 0, f"{edge}: the artifact {node} is not in the knowledge graph"
    for node in (step.source, step.target) if graph.has_nodes else ():
        repo = repo_of(node) or ""
        at, wanted = graph.nodes[node], pinned.get(repo)
        if at is not None and wanted is not None and commits.meant(repo, at, pinned).sha != wanted:
            return 1, f"{edge}: {node} is known at {at}, not at the annotated commit {wanted}"
    # A real relation that the static graph doesn't hold is marked by its evidence.
    if not graph.has_edges or beyond_static(step.evidence):
        return None
    if step.relation is None:
        found = (step.source, step.target) in graph.pairs
    else:
        found = (step.source, step.relation, step.target) in graph.edges
    return None if found else (2, f"{edge}: the knowledge graph has no such edge")
