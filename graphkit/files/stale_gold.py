"""Stale gold, which the dataset's own knowledge graph doesn't hold: it proves nothing about a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.known_ids import nearest
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader
from graphkit.files.spool import Spool
from graphkit.records.commits import CommitGraph, PlacedGold
from graphkit.records.gold import beyond_static
from graphkit.records.structs import ArtifactStruct, EdgeStruct, GoldPathStruct, QuestionStruct, StepStruct
from graphkit.records.unanswered import STALE

#: How many relations between two nodes a reason names.
_HELD = 3


_NONE: frozenset[PlacedGold] = frozenset()

#: The first and the last commit at which an edge exists, as its record names them.
Span = tuple[str | None, str | None]


@dataclass(frozen=True)
class AbsentGold:
    """The gold edges that the knowledge graphs of a dataset lack, for all questions whose gold was checked.

    Attributes
    ----------
    with_edges
        The names of the knowledge graphs, and whether their edges are given.
    edges
        The edges that a question lacks, for each that lacks any.
    """

    with_edges: dict[str, bool]
    edges: dict[str, frozenset[PlacedGold]]

    @classmethod
    def in_graphs(cls, dataset: Dataset, edges: dict[str, frozenset[PlacedGold]]) -> AbsentGold:
        """Return the edges that the knowledge graphs of a dataset lack, by question."""
        return cls({name: files[1] is not None for name, files in dataset.graphs.items()}, edges)

    def of(self, question: QuestionStruct) -> frozenset[PlacedGold] | None:
        """Return the gold edges that no knowledge graph of a question holds; None if the edges of one aren't given."""
        every = bool(self.with_edges) and all(self.with_edges.values())
        known = every if question.stack is None else self.with_edges.get(question.stack, every)
        return self.edges.get(question.id, _NONE) if known else None


@dataclass(frozen=True)
class CheckedGold:
    """The questions with stale gold, with the reasons, and the gold edges that the knowledge graphs lack.

    ``undated`` says by question of which gold edges it isn't known whether they exist at their commits.
    """

    stale: dict[str, tuple[str, ...]]
    absent: AbsentGold
    undated: dict[str, tuple[str, ...]]


@dataclass
class _Graph:
    """The nodes that gold names and one knowledge graph holds, with their commits, and the edges between them.

    An edge is one number, made of those of its ends and its relation (0 for any): millions of them fit into memory.
    Those that exist at some commits only are apart, with the repositories of which the graph thus holds the history.
    """

    numbers: _Numbers
    nodes: dict[str, str | None] = field(default_factory=dict)
    edges: set[int] = field(default_factory=set)
    spans: dict[int | None, list[Span]] = field(default_factory=dict)
    dated: set[str] = field(default_factory=set)
    has_nodes: bool = False
    has_edges: bool = False

    def holds(self, source: str, relation: str | None, target: str) -> bool:
        """Return whether it holds an edge at any commit; one without a relation may have any."""
        number = self.numbers.edge(source, relation, target)
        return number in self.edges or number in self.spans

    def relations(self, source: str, target: str) -> list[str]:
        """Return the relations that it holds between two nodes at any commit, in this direction."""
        return [name for name in self.numbers.relations if name is not None and self.holds(source, name, target)]


class _Numbers:
    """Numbers for the nodes that gold names, and for relations."""

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.relations: dict[str | None, int] = {None: 0}
        self.bare = False

    def show(self, step: StepStruct) -> None:
        """Number the parts of a step."""
        for node in (step.source, step.target):
            self.nodes.setdefault(node, len(self.nodes))
        self.relations.setdefault(step.relation, len(self.relations))
        self.bare = self.bare or step.relation is None

    def edge(self, source: str, relation: str | None, target: str) -> int | None:
        """Return the number of an edge, or None if gold doesn't name both of its ends."""
        start, end = self.nodes.get(source), self.nodes.get(target)
        if start is None or end is None:
            return None
        return (self.relations.setdefault(relation, len(self.relations)) << 64) | (start << 32) | end


class GoldCheck:
    """Finds questions with stale gold: pass it all questions first, then the knowledge graphs, then ask.

    Gold is stale if a knowledge graph doesn't hold it at the commit of its annotation. Such a question is invalid, and
    not scored. Without a knowledge graph nothing is stale, nor is a step of a path with commits of its own that no
    graph has read at these. A graph holds the history of a repository if an edge from it says since or until which
    commit it exists: it is then asked about any commit, and what it can't place is neither stale nor absent. Only the
    nodes and edges that gold names stay in memory.
    """

    def __init__(self, dataset: Dataset, commits: CommitGraph) -> None:
        self._numbers = _Numbers()
        self._graphs = {
            name: _Graph(self._numbers, has_nodes=artifacts is not None, has_edges=edges is not None)
            for name, (artifacts, edges) in dataset.graphs.items()
        }
        self.commits = commits
        self._dataset = dataset
        self._near: dict[str, str | None] | None = None

    @property
    def knows_history(self) -> bool:
        """Whether an edge of gold states since or until which commit it exists."""
        return any(graph.spans for graph in self._graphs.values())

    def show(self, question: QuestionStruct) -> None:
        """Add the nodes and edges of a question's gold."""
        if self._graphs:
            for path in question.paths:
                for step in path.steps:
                    self._numbers.show(step)
            for node in question.seeds:
                self._numbers.nodes.setdefault(node, len(self._numbers.nodes))

    def artifacts(self, graph: str, artifacts: Iterable[ArtifactStruct]) -> Iterator[ArtifactStruct]:
        """Yield the artifacts of a knowledge graph, and remember those that gold names."""
        nodes, known = self._numbers.nodes, self._graphs[graph].nodes
        for artifact in artifacts:
            if artifact.id in nodes:
                known[artifact.id] = artifact.commit
            yield artifact

    def edges(self, graph: str, edges: Iterable[EdgeStruct]) -> Iterator[EdgeStruct]:
        """Yield the edges of a knowledge graph, and remember those between nodes that gold names."""
        numbers, one = self._numbers, self._graphs[graph]
        for edge in edges:
            span = (edge.since, edge.until)
            dated = span != (None, None)
            if dated:
                one.dated.add(self.commits.places.repo(edge.source) or "")
            for relation in (edge.relation, None) if numbers.bare else (edge.relation,):
                if (number := numbers.edge(edge.source, relation, edge.target)) is None:
                    break
                if dated:
                    one.spans.setdefault(number, []).append(span)
                else:
                    one.edges.add(number)
            if not one.has_nodes:  # then its edges name its nodes
                for node in (edge.source, edge.target):
                    if node in numbers.nodes:
                        one.nodes.setdefault(node, None)
            yield edge

    def reasons(self, question: QuestionStruct) -> tuple[str, ...]:
        """Return the reasons why the gold of a question is stale, each once; none if it isn't."""
        stated = (question.stale,) if question.stale else ()
        found = self._stale(question, self._graphs_of(question)) if self._graphs else ()
        return tuple(dict.fromkeys((*stated, *found)))

    def absent(self, question: QuestionStruct) -> frozenset[PlacedGold] | None:
        """Return the gold edges that no knowledge graph of a question holds at the commits of their path.

        None if the edges of one aren't given. Gold whose evidence isn't static may lie outside a knowledge graph, and
        isn't stale for that.
        """
        graphs = self._graphs_of(question)
        if not graphs or not all(graph.has_edges for graph in graphs):
            return None
        return frozenset(
            (place, (step.source, step.relation, step.target))
            for place, (path, at) in enumerate(self._paths(question))
            for step in path.steps
            if not path.commits or any(self._is_read_at(path.commits, step, graph) for graph in graphs)
            if all(self._holds(graph, step, at) is False for graph in graphs)
        )

    def undated(self, question: QuestionStruct, problems: Problems) -> tuple[str, ...]:
        """Note and return the gold edges of a question of which it isn't known whether they exist at their commits."""
        found: dict[str, None] = {}
        for graph in (graph for graph in self._graphs_of(question) if graph.spans):
            for path, at in self._paths(question):
                for step in path.steps:
                    if self._holds(graph, step, at) is None:
                        repo = self.commits.places.repo(step.source) or ""
                        spans = _shown_spans(graph.spans[self._numbers.edge(step.source, step.relation, step.target)])
                        what = f"{_shown(step)}: the knowledge graph holds it {spans}; "
                        found[what + f"the known parents don't tell whether that includes {repo}@{at[repo]}"] = None
        for what in found:
            problems.note(Problem(str(self._dataset.questions_file), what, record=question.id))
        return tuple(found)

    def _paths(self, question: QuestionStruct) -> Iterator[tuple[GoldPathStruct, dict[str, str]]]:
        """Yield the gold paths of a question that hold a step, with the shas at which they were annotated."""
        pinned = self.commits.pins(question)
        for path in question.paths:
            if path.steps:
                yield path, pinned | {repo: self.commits.meant(repo, name).sha for repo, name in path.commits.items()}

    def _holds(self, graph: _Graph, step: StepStruct, at: Mapping[str, str]) -> bool | None:
        """Return whether a graph holds a step at some commits, or at any where none is named; None if it can't tell."""
        number = self._numbers.edge(step.source, step.relation, step.target)
        if number in graph.edges or number not in graph.spans:
            return number in graph.edges
        repo = self.commits.places.repo(step.source) or ""
        if (sha := at.get(repo)) is None:
            return True
        found = {self.commits.within(repo, sha, *span) for span in graph.spans[number]}
        return True if True in found else None if None in found else False

    def _graphs_of(self, question: QuestionStruct) -> list[_Graph]:
        """Return the knowledge graphs of a question: the one with the name of its stack, else all."""
        own = self._graphs.get(question.stack) if question.stack is not None else None
        return [own] if own is not None else [*self._graphs.values()]

    def _stale(self, question: QuestionStruct, graphs: list[_Graph]) -> Iterator[str]:
        for path, at in self._paths(question):
            for step in path.steps:
                reasons = [
                    self._reason(step, graph, at)
                    if not path.commits or self._is_read_at(path.commits, step, graph)
                    else None
                    for graph in graphs
                ]
                if None not in reasons:
                    # The nearest graph gives the reason: a wrong commit is more specific than a missing node.
                    yield max((reason for reason in reasons if reason), key=lambda reason: reason[0])[1]

        for node in question.seeds:
            if all((graph.has_nodes or graph.has_edges) and node not in graph.nodes for graph in graphs):
                yield f"the seed {node} is not in the knowledge graph{self._nearest_in_words(node)}"

    def _is_read_at(self, commits: Mapping[str, str], step: StepStruct, graph: _Graph) -> bool:
        """Return whether a graph has read the ends of a step at some commits, as far as these name repositories.

        A graph that holds the history of a repository has read it at all of them.
        """
        for node in (step.source, step.target):
            repo = self.commits.places.repo(node) or ""
            if repo not in graph.dated and (wanted := commits.get(repo)) is not None:
                at = graph.nodes.get(node)
                if at is None or self.commits.meant(repo, at) != self.commits.meant(repo, wanted):
                    return False
        return True

    def _reason(self, step: StepStruct, graph: _Graph, pinned: dict[str, str]) -> tuple[int, str] | None:
        """Return why a graph lacks a gold step, and how near it comes, or None if the graph holds it."""
        edge = _shown(step)
        # Evidence marks a real relation that the static graph doesn't hold.
        beyond = not graph.has_edges or beyond_static(step.evidence)
        for node in (step.source, step.target):
            if node not in graph.nodes and (graph.has_nodes or not beyond):
                return 0, f"{edge}: the artifact {node} is not in the knowledge graph{self._nearest_in_words(node)}"
        for node in (step.source, step.target) if graph.has_nodes else ():
            repo = self.commits.places.repo(node) or ""
            at, wanted = graph.nodes[node], pinned.get(repo) if repo not in graph.dated else None
            if at is not None and wanted is not None and self.commits.meant(repo, at, pinned).sha != wanted:
                return 1, f"{edge}: {node} is known at {at}, not at the annotated commit {wanted}"
        if beyond or self._holds(graph, step, pinned) is not False:
            return None
        if spans := graph.spans.get(self._numbers.edge(step.source, step.relation, step.target)):
            at = pinned[self.commits.places.repo(step.source) or ""]
            return 5, f"{edge}: the knowledge graph holds it {_shown_spans(spans)}, not at the annotated commit {at}"
        forward, backward = (
            graph.relations(*ends) for ends in ((step.source, step.target), (step.target, step.source))
        )
        if step.relation in backward or (step.relation is None and backward):
            return 4, f"{edge}: the knowledge graph holds it the other way round"
        if forward or backward:
            turned = " the other way round and" if not forward else ""
            held = ", ".join(sorted(forward or backward)[:_HELD])
            return 3, f"{edge}: the knowledge graph holds it{turned} with another relation, {held}"
        return 2, f"{edge}: the knowledge graph has no such edge"

    def _nearest_in_words(self, node: str) -> str:
        """Return which name of the knowledge graphs is nearest to a missing one; they are read again for it once."""
        if self._near is None:
            missing = [
                one for one in self._numbers.nodes if all(one not in graph.nodes for graph in self._graphs.values())
            ]
            self._near = nearest(missing, self._dataset)
        near = self._near.get(node)
        return f"; the nearest name is {near}" if near is not None else ""


def _shown(step: StepStruct) -> str:
    return f"{step.source} -{step.relation or ''}-> {step.target}"


def _shown_spans(spans: Iterable[Span]) -> str:
    """Return the commits at which an edge exists, in words.

    >>> _shown_spans([("v1", "v2"), ("v4", None)])
    'since v1 until v2 and since v4'
    """
    return " and ".join(
        " ".join(f"{word} {name}" for word, name in zip(("since", "until"), span, strict=True) if name is not None)
        for span in spans
    )


def stale_gold(
    dataset: Dataset,
    commits: CommitGraph,
    problems: Problems,
    questions: Sequence[QuestionStruct] = (),
) -> dict[str, tuple[str, ...]]:
    """Return the questions with stale gold, with the reasons; see :func:`checked_gold`."""
    return checked_gold(dataset, commits, problems, questions).stale


def checked_gold(
    dataset: Dataset,
    commits: CommitGraph,
    problems: Problems,
    questions: Sequence[QuestionStruct] = (),
) -> CheckedGold:
    """Compare the gold of a dataset with its knowledge graphs: what is stale, and which edges they lack.

    Parameters
    ----------
    commits
        The known commits of the dataset, for those of stacks and for the meaning of their names.
    problems
        Receives the problems of the knowledge graph; those of other files are reported elsewhere.
    questions
        The questions of the dataset, if they were read already.
    """
    if not dataset.graphs:
        return CheckedGold(_stated(dataset, questions), AbsentGold.in_graphs(dataset, {}), {})
    check = GoldCheck(dataset, commits)
    with Spool(QuestionStruct) as read:
        for question in questions or read.keep(dataset.annotated()):
            check.show(question)
        for name, (artifacts, edges) in dataset.graphs.items():
            if artifacts is not None:
                for _ in check.artifacts(name, dataset.artifacts(artifacts, problems)):
                    pass
            if edges is not None:
                for _ in check.edges(name, dataset.edges(edges, problems)):
                    pass
        stale, absent, undated = {}, {}, {}
        for question in questions or read:
            if unplaced := check.undated(question, problems):
                undated[question.id] = unplaced
            if reasons := check.reasons(question):
                stale[question.id] = reasons
            if lacking := check.absent(question):
                absent[question.id] = lacking
        return CheckedGold(stale, AbsentGold.in_graphs(dataset, absent), undated)


def _stated(dataset: Dataset, questions: Sequence[QuestionStruct]) -> dict[str, tuple[str, ...]]:
    """Return the questions that say themselves why their gold is stale; without the name of the field, no line is."""
    if not questions and dataset.questions_file.is_file():
        reader = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
        lines = (reader.parse(number, line) for number, line in read_lines(reader.path) if b'"stale"' in line)
        questions = [question for question in lines if question is not None]
    return {question.id: (question.stale,) for question in questions if question.stale}


def invalid_reason(stale: Sequence[str]) -> str | None:
    """Return a sentence about a question's stale gold, or None if none is stale."""
    if not stale:
        return None
    return f"{STALE}{stale[0]}" + (f" (and {len(stale) - 1} more)" if len(stale) > 1 else "")
