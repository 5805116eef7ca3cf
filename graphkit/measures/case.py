"""One question with what one run did with it, in the form that the measures read; each part is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from graphkit.commits import CommitGraph, Version
from graphkit.identity import file_of, path_of, repo_of, symbol_of
from graphkit.measures.lazy import lazy

Edge = tuple[str, str | None, str]


class StepLike(Protocol):
    """A gold step as the measures read it."""

    @property
    def source(self) -> str: ...
    @property
    def relation(self) -> str | None: ...
    @property
    def target(self) -> str: ...
    @property
    def optional(self) -> bool: ...
    @property
    def evidence(self) -> str | None: ...


class PathLike(Protocol):
    """A gold path as the measures read it."""

    @property
    def id(self) -> str | None: ...
    @property
    def group(self) -> str | None: ...
    @property
    def steps(self) -> Iterable[StepLike]: ...


class QuestionLike(Protocol):
    """The annotation as the measures read it: a :class:`graphkit.models.Question`, or its lean twin."""

    @property
    def id(self) -> str: ...
    @property
    def k(self) -> int | None: ...
    @property
    def stack(self) -> str | None: ...
    @property
    def gold_answer(self) -> str | None: ...
    @property
    def expected_output(self) -> str | None: ...
    @property
    def commits(self) -> Mapping[str, str]: ...
    @property
    def paths(self) -> Iterable[PathLike]: ...
    @property
    def relevant(self) -> Mapping[str, float]: ...
    @property
    def expected_files(self) -> Iterable[str]: ...
    @property
    def expected_symbols(self) -> Iterable[str]: ...


class ChunkLike(Protocol):
    """A retrieved chunk as the measures read it."""

    @property
    def id(self) -> str: ...
    @property
    def repo(self) -> str | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def symbol(self) -> str | None: ...
    @property
    def commit(self) -> str | None: ...
    @property
    def branch(self) -> str | None: ...
    @property
    def rank(self) -> int | None: ...
    @property
    def score(self) -> float | None: ...
    @property
    def text(self) -> str | None: ...


class WalkLike(Protocol):
    """A traversed edge as the measures read it."""

    @property
    def source(self) -> str: ...
    @property
    def relation(self) -> str | None: ...
    @property
    def target(self) -> str: ...
    @property
    def path(self) -> int: ...
    @property
    def position(self) -> int | None: ...
    @property
    def source_commit(self) -> str | None: ...
    @property
    def target_commit(self) -> str | None: ...


class AnswerLike(Protocol):
    """What a run did, as the measures read it: a :class:`graphkit.models.Answer`, or its lean twin."""

    @property
    def retrieved(self) -> Iterable[ChunkLike]: ...
    @property
    def traversal(self) -> Iterable[WalkLike]: ...
    @property
    def answer(self) -> str | None: ...
    @property
    def evidence_files(self) -> Iterable[str] | None: ...
    @property
    def error(self) -> str | None: ...


class Gold:
    """One gold path: its edges in order, which of them are optional, and those that are not."""

    __slots__ = ("_steps", "edges", "group", "id", "needed", "optional", "required")

    def __init__(self, path: PathLike) -> None:
        self.id = path.id
        self.group = path.group
        self._steps = path.steps
        #: The edges in order.
        self.edges: list[Edge] = [(step.source, step.relation, step.target) for step in path.steps]
        #: Of each edge, whether it is optional.
        self.optional = [step.optional for step in path.steps]
        #: The edges that aren't optional, in order.
        self.required = self.edges
        if True in self.optional:
            self.required = [edge for edge, optional in zip(self.edges, self.optional, strict=True) if not optional]
        #: The edges that aren't optional, each once.
        self.needed = set(self.required)

    @property
    def manual(self) -> list[bool]:
        """Of each edge, whether no static graph holds it."""
        return [step.evidence == "manual" for step in self._steps]


class Case:
    """One question of one run.

    Parameters
    ----------
    question
        The annotation.
    answer
        The run's record, or None where the run has none for this question.
    commits
        What is known about commits; needed by the measures of version coherence only.
    """

    def __init__(self, question: QuestionLike, answer: AnswerLike | None, commits: CommitGraph | None = None) -> None:
        self.question = question
        self.answer = answer
        self.commits = commits if commits is not None else CommitGraph()
        #: What measures found out about the case, for the others.
        self.shared: dict[object, Any] = {}
        self._irregular: list[list[WalkLike]] = []

    # Retrieval -------------------------------------------------------------------------------------------------------

    @lazy
    def chunks(self) -> list[ChunkLike]:
        """The retrieved chunks, best first: as listed, or by rank where the ranks say another order."""
        chunks = list(self.answer.retrieved) if self.answer is not None else []
        ranks = [chunk.rank for chunk in chunks]
        if None not in ranks and ranks != sorted(ranks):  # type: ignore[type-var]
            chunks.sort(key=lambda chunk: chunk.rank or 0)
        return chunks

    @lazy
    def ranks(self) -> dict[str, int]:
        """The first rank (from 1) of each retrieved id."""
        ids = [chunk.id for chunk in self.chunks]
        return dict(zip(reversed(ids), range(len(ids), 0, -1), strict=True))

    @lazy
    def hits(self) -> list[tuple[int, float]]:
        """Rank (from 1) and gain of each relevant id, at the first rank at which it was retrieved."""
        ranks = self.ranks
        found = [(ranks[node], gain) for node, gain in self.question.relevant.items() if node in ranks and gain > 0]
        found.sort()
        return found

    @lazy
    def gains(self) -> list[float]:
        """The positive gains of the question, best first."""
        return sorted([gain for gain in self.question.relevant.values() if gain > 0], reverse=True)

    @lazy
    def duplicates(self) -> list[str]:
        """Ids that the ranking holds more than once."""
        if len(self.ranks) == len(self.chunks):
            return []
        return [chunk.id for rank, chunk in enumerate(self.chunks, 1) if self.ranks[chunk.id] < rank]

    # Traversal -------------------------------------------------------------------------------------------------------

    @lazy
    def gold(self) -> list[Gold]:
        """The gold paths that hold a step, in order."""
        return [Gold(path) for path in self.question.paths if path.steps]

    @lazy
    def gold_edges(self) -> set[Edge]:
        """The distinct edges of all gold paths, optional ones included."""
        return {edge for gold in self.gold for edge in gold.edges}

    @lazy
    def units(self) -> list[list[Gold]]:
        """What has to be found: each unit is one required path, or the alternatives that share a group."""
        units: dict[object, list[Gold]] = {}
        for number, gold in enumerate(self.gold):
            units.setdefault(number if gold.group is None else gold.group, []).append(gold)
        return list(units.values())

    @lazy
    def walks(self) -> list[list[WalkLike]]:
        """The retrieved paths, each a list of steps in the order of their positions."""
        steps = list(self.answer.traversal) if self.answer is not None else []
        numbers = [step.path for step in steps]
        if numbers != sorted(numbers):
            steps.sort(key=lambda step: step.path)
            numbers.sort()
        walks = []
        start = 0
        for number in dict.fromkeys(numbers):
            end = start + numbers.count(number)
            walk = steps[start:end]
            positions = [step.position for step in walk]
            first = positions[0]
            if positions != ([None] * len(walk) if first is None else list(range(first, first + len(walk)))):
                _sort(walk)
                self._irregular.append(walk)
            walks.append(walk)
            start = end
        return walks

    @lazy
    def walked_paths(self) -> list[list[Edge]]:
        """The retrieved paths as edges in order."""
        return [[(step.source, step.relation, step.target) for step in walk] for walk in self.walks]

    @lazy
    def walked(self) -> set[Edge]:
        """The distinct traversed edges, over all retrieved paths."""
        return {edge for path in self.walked_paths for edge in path}

    @lazy
    def untyped(self) -> bool:
        """Whether an edge of either side carries no relation, so that sets of typed edges can't be compared."""
        return None in {edge[1] for edge in self.walked} or None in {edge[1] for edge in self.gold_edges}

    @property
    def misplaced(self) -> list[tuple[int, str]]:
        """Paths whose positions have a gap, a repeat, or run backwards: (path, sentence)."""
        found = []
        for walk in self._irregular if self.walks else ():
            positions = [step.position for step in walk if step.position is not None]
            if len(set(positions)) < len(positions):
                found.append((walk[0].path, "a position repeats"))
            elif positions and positions[-1] - positions[0] + 1 != len(positions):
                found.append((walk[0].path, "the positions have a gap"))
        return found

    # Versions and names ----------------------------------------------------------------------------------------------

    @lazy
    def versions(self) -> list[Version]:
        """The version of each distinct retrieved chunk, in order of rank."""
        seen: set[str] = set()
        versions = []
        for chunk in self.chunks:
            if chunk.id not in seen:
                seen.add(chunk.id)
                versions.append(Version(chunk.repo or repo_of(chunk.id), chunk.commit, chunk.branch))
        return versions

    @lazy
    def touched(self) -> set[tuple[str, str]]:
        """(repository, sha) of the retrieved chunks and of both ends of the traversed edges, where they carry one."""
        found = {(one.repo, one.sha) for one in self.versions}
        for walk in self.walks:
            for step in walk:
                found.add((repo_of(step.source), step.source_commit))
                found.add((repo_of(step.target), step.target_commit))
        return {(repo, sha) for repo, sha in found if repo is not None and sha is not None}

    @lazy
    def pins(self) -> dict[str, str]:
        """The commit of each repository at which the question was annotated: its stack's, and over these its own."""
        stack = self.commits.stacks.get(self.question.stack, {}) if self.question.stack else {}
        return {**stack, **self.question.commits}

    @lazy
    def repositories(self) -> set[str]:
        """The retrieved repositories: of the chunks and of the ends of the traversed edges."""
        found = {chunk.repo or repo_of(chunk.id) for chunk in self.chunks}
        for source, _, target in self.walked:
            found.add(repo_of(source))
            found.add(repo_of(target))
        return {repo for repo in found if repo is not None}

    @lazy
    def files(self) -> set[str]:
        """The evidence files as ``repo/path``: those the run names, else those of its retrieved chunks."""
        if self.answer is not None and self.answer.evidence_files is not None:
            return {file_of(name) for name in self.answer.evidence_files}
        found = set()
        for chunk in self.chunks:
            repo, path = chunk.repo or repo_of(chunk.id), chunk.path or path_of(chunk.id)
            if path is not None:
                found.add(f"{repo}/{path}" if repo is not None else path)
        return found

    @lazy
    def symbols(self) -> set[str]:
        """The symbols of the retrieved chunks."""
        return {symbol for chunk in self.chunks if (symbol := chunk.symbol or symbol_of(chunk.id))}


def _sort(walk: list[WalkLike]) -> None:
    """Sort steps by their positions where these run backwards; steps without one come first then."""
    positions = [step.position for step in walk if step.position is not None]
    if positions != sorted(positions):
        walk.sort(key=lambda step: -1 if step.position is None else step.position)
