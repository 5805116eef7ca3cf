"""Whether a set of questions can tell systems apart: fields, difficulty, duplicates, stale gold, room to improve."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from graphkit.identity import repo_of
from graphkit.measures.ranking import normalised
from graphkit.models import Artifact, Commit, Compatibility, Edge
from graphkit.sources.dataset import Dataset
from graphkit.sources.lean import LeanAnswer
from graphkit.sources.records import RecordReader
from graphkit.sources.report import Report

Level = Literal["invalid", "warning"]

#: The share of each difficulty that a set should have, and how far it may be off.
SPREAD = {"easy": 0.4, "medium": 0.4, "hard": 0.2}
TOLERANCE = 0.1

#: The kinds of findings, in the order in which they are told.
KINDS = ("record", "field", "stale-gold", "unknown-commit", "duplicate", "difficulty", "no-room")

_GOLD = ("paths", "relevant", "expected_files", "expected_symbols", "gold_answer", "expected_output", "facts")
_WANTED = ("category", "difficulty")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a question, or about the set where ``question`` is None.

    An ``invalid`` question can't be scored fairly; a ``warning`` is for the reader to judge.
    """

    kind: str
    level: Level
    what: str
    question: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {"kind": self.kind, "level": self.level, "question": self.question, "what": self.what}


@dataclass(frozen=True)
class Checked:
    """The findings about a set, and how many questions it has."""

    questions: int
    difficulties: dict[str, int]
    findings: tuple[Finding, ...]

    def invalid(self) -> list[str]:
        """Return the questions that are invalid, in their order; a record that names none is not among them."""
        return list(dict.fromkeys(one.question for one in self.findings if one.level == "invalid" and one.question))


def check_dataset(dataset: Dataset, baseline: Path | None = None) -> Checked:
    """Look at each question of a dataset.

    Parameters
    ----------
    baseline
        The run of a system without retrieval: a question that it answers leaves no room to improve.

    Raises
    ------
    InputError
        A file can't be read, or a record of another file than the questions can't be used.
    """
    report = Report()
    questions = [question for _, question in dataset.questions(report)]
    findings = [Finding("record", "invalid", f"{one.where}: {one.what}", one.record or None) for one in report.problems]
    findings += [found for question in questions for found in _fields(question)]
    reading = Report()
    rows = dataset.compatibility(reading)
    for name, reasons in stale_gold(dataset, rows, reading).items():
        findings += [Finding("stale-gold", "invalid", what, name) for what in reasons]
    findings += _unknown_commits(questions, dataset.commits(reading), rows)
    reading.settle()
    findings += _duplicates(questions)
    findings += _difficulty(questions)
    if baseline is not None:
        findings += _answered(questions, baseline)
    counts = Counter(question.difficulty for question in questions)
    difficulties = {name: counts[name] for name in SPREAD}
    order = {kind: number for number, kind in enumerate(KINDS)}
    return Checked(len(questions), difficulties, tuple(sorted(findings, key=lambda one: order[one.kind])))


def _fields(question: Any) -> Iterator[Finding]:
    if not question.question.strip():
        yield Finding("field", "invalid", "the question is blank", question.id)
    if not any(getattr(question, name) for name in _GOLD):
        yield Finding("field", "invalid", f"there is no gold: none of {', '.join(_GOLD)}", question.id)
    elif question.paths and not any(path.steps for path in question.paths):
        yield Finding("field", "invalid", "its gold paths have no step", question.id)
    missing = [name for name in _WANTED if not getattr(question, name)]
    if not question.commits and not question.stack:
        missing.append("commits (or a stack)")
    if missing:
        yield Finding("field", "warning", f"without {', '.join(missing)}", question.id)


def _duplicates(questions: Iterable[Any]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for question in questions:
        text = normalised(question.question).strip(" .,:;!?")  # not the signs within: C and C++ are two things
        if text in first:
            yield Finding("duplicate", "warning", f"asks the same as {first[text]}", question.id)
        first.setdefault(text, question.id)


def _difficulty(questions: list[Any]) -> Iterator[Finding]:
    known = Counter(question.difficulty for question in questions if question.difficulty)
    total = sum(known.values())
    if total and any(abs(known[name] / total - share) > TOLERANCE for name, share in SPREAD.items()):
        has = ", ".join(f"{name} {100 * known[name] / total:.0f} %" for name in SPREAD)
        wanted = ", ".join(f"{name} {100 * share:.0f} %" for name, share in SPREAD.items())
        yield Finding("difficulty", "warning", f"the spread is {has}, where {wanted} is wanted (10 points either way)")


def _answered(questions: Iterable[Any], baseline: Path) -> Iterator[Finding]:
    report = Report()
    answers = {
        record.question_id: record.answer
        for _, record in RecordReader(baseline, LeanAnswer, report)
        if record.answer is not None and record.error is None
    }
    report.settle()
    for question in questions:
        span = normalised(question.expected_output or question.gold_answer or "")
        if span and span in normalised(answers.get(question.id) or ""):
            yield Finding("no-room", "warning", "the baseline answers it without retrieval", question.id)


# Stale gold ---------------------------------------------------------------------------------------------------------


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


def _unknown_commits(
    questions: Iterable[Any], commits: Iterable[Commit], rows: Iterable[Compatibility]
) -> Iterator[Finding]:
    """Yield where an annotated commit isn't listed among those of its repository: gold can't be checked against it."""
    known = _known_commits(commits, rows)
    for question in questions:
        for repo, sha in sorted(question.commits.items()):
            if repo in known and sha not in known[repo]:
                what = f"is annotated at {repo}@{sha}, a commit that commits.jsonl does not hold"
                yield Finding("unknown-commit", "warning", what, question.id)


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


def _known_commits(commits: Iterable[Commit], rows: Iterable[Compatibility]) -> dict[str, set[str]]:
    """Return the commits of each repository that commits.jsonl lists, and those that compatibility rows name."""
    known: dict[str, set[str]] = defaultdict(set)
    for commit in commits:
        known[commit.repo].add(commit.sha)
    for row in rows:
        for repo, sha in row.commits.items():
            if repo in known:
                known[repo].add(sha)
    return known


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
