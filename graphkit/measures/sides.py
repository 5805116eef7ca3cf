"""Questions over two versions: gold paths with commits of their own, and what of a run fits which of these sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from msgspec.structs import replace

from graphkit.measures.case import Case
from graphkit.measures.lazy import lazy
from graphkit.measures.matching import NOT_STATED, Edge
from graphkit.records.commits import Fit, Version, is_whole
from graphkit.records.ids import NodeCache, Places
from graphkit.records.structs import AnswerStruct, QuestionStruct, StepStruct, TraversalStepStruct

#: A step of gold or of a traversal.
S = TypeVar("S", StepStruct, TraversalStepStruct)


class Side:
    """A version of the system that a question is about: the commits of gold paths, by repository.

    Attributes
    ----------
    commits
        The commits of the question, overridden by those of the path. A repository that is missing sets no condition.
    label
        What tells it from the other sides: the name of its commit, with that of the repository if several differ.
    names
        How gold spells the commits.
    joined
        The pairs of nodes that gold joins on this side, in whatever direction.
    """

    __slots__ = ("commits", "joined", "label", "names")

    def __init__(self, commits: Mapping[str, str]) -> None:
        self.commits = commits
        self.names: dict[str, str] = {}
        self.label = ""
        self.joined: set[frozenset[str]] = set()

    def fits(self, repo: str | None, sha: str | None) -> bool:
        """Return whether a commit is that of this side; nothing is asked of an unknown one, or without a pin."""
        return repo is None or sha is None or self.commits.get(repo, sha) == sha

    def named(self, node: str) -> str:
        """Return the name of a node on this side.

        >>> side = Side({"api": "1" * 40})
        >>> side.label = "v1.0.0"
        >>> side.named("api:auth.py")
        'api:auth.py@v1.0.0'
        """
        return f"{node}@{self.label}"


class SidedCase(Case):
    """A case whose nodes of gold and traversal carry their side, so that edges of different sides are different edges.

    A gold edge counts once for each side that requires it. A traversed edge fits a side if each end that names a commit
    names that of the side for its repository. It stands for each side that it fits and whose gold joins its ends; else
    for itself, once, on the first side that it fits; and without a side if it fits none. A retrieved path is compared
    once on each side that decides how its edges are named.

    Attributes
    ----------
    origin
        The case without sides.
    sides
        The sides in the order of their commits.
    path_sides
        The side of each gold path.
    side_of
        The side of each named node.
    twice
        The edges outside gold that stand for themselves on a further side, for where a path went; they don't count.
    of_walk
        For each path as it is compared the place of the retrieved path among those of the origin.
    bare
        How many distinct edges name no commit although a side pins the repository of an end.
    """

    def __init__(self, case: Case) -> None:
        paths = [path for path in case.question.paths if path.steps]
        self.origin = case
        self.path_sides = of_path = _sides(case)
        self.side_of: dict[str, Side] = {}
        self._plain: dict[str, str] = {}
        self.sides = sorted({id(one): one for one in of_path}.values(), key=lambda one: sorted(one.commits.items()))
        for side, path in zip(of_path, paths, strict=True):
            side.joined.update(frozenset((step.source, step.target)) for step in path.steps)
        self.twice: set[Edge] = set()
        self.of_walk: list[int] = []
        self.bare = 0
        question: QuestionStruct = replace(
            case.question,
            paths=[
                replace(path, commits={}, steps=[self._at(side, step) for step in path.steps])
                for side, path in zip(of_path, paths, strict=True)
            ],
        )
        super().__init__(question, self._named_answer(), case.commits, not case.ordered)

    def _at(self, side: Side | None, step: S) -> S:
        if side is None:
            return step
        for node in (step.source, step.target):
            self.side_of[side.named(node)] = side
            self._plain[side.named(node)] = node
        return replace(step, source=side.named(step.source), target=side.named(step.target))

    # Traversal -------------------------------------------------------------------------------------------------------

    def _named_answer(self) -> AnswerStruct | None:
        answer = self.origin.answer
        if answer is None:
            return None
        before = answer.walked_before
        if before is not None:  # earlier turns are compared without versions
            before = [self._at(side, step) for side in self.sides for step in before]
        if answer.traversal is None:
            return replace(answer, walked_before=before)
        bare: set[Edge] = set()
        steps: list[TraversalStepStruct] = []
        once: set[Edge] = set()
        again: set[Edge] = set()
        for index, walk in enumerate(self.origin.walks):
            fitting = [self.fitting(step) for step in walk]
            owned = [
                [side for side in sides if frozenset((step.source, step.target)) in side.joined]
                for step, sides in zip(walk, fitting, strict=True)
            ]
            named = {
                tuple([_picked(side, own, sides) for own, sides in zip(owned, fitting, strict=True)]): None
                for side in self.sides
            }
            for picked in named:
                self.of_walk.append(index)
                for position, (step, side) in enumerate(zip(walk, picked, strict=True)):
                    one = replace(self._at(side, step), path=len(self.of_walk), position=position)
                    steps.append(one)
                    counts = side in (owned[position] or fitting[position][:1]) or side is None
                    (once if counts else again).add((one.source, one.relation, one.target))
            bare |= {(step.source, step.relation, step.target) for step in walk if self._is_bare(step)}
        self.bare, self.twice = len(bare), again - once
        return replace(answer, traversal=steps, walked_before=before)

    def fitting(self, step: TraversalStepStruct) -> list[Side]:
        """Return the sides that a traversed edge fits; without a commit it fits any, but none in strict comparison."""
        if step.source_commit == NOT_STATED:
            return []
        return [side for side in self.sides if all(side.fits(*at) for at in self._ends(step))]

    def _ends(self, step: TraversalStepStruct) -> list[tuple[str | None, str | None]]:
        case, found = self.origin, []
        for node, name in ((step.source, step.source_commit), (step.target, step.target_commit)):
            repo = case.places.repo(node)
            found.append((repo, case.sha(repo, name) if name else None))
        return found

    def _is_bare(self, step: TraversalStepStruct) -> bool:
        """Return whether an edge names no commit, although a side pins the repository of an end."""
        if (step.source_commit or step.target_commit or NOT_STATED) != NOT_STATED:
            return False
        repos = {self.origin.places.repo(step.source), self.origin.places.repo(step.target)}
        return any(not repos.isdisjoint(side.commits) for side in self.sides)

    def stated(self, steps: Iterable[TraversalStepStruct]) -> list[TraversalStepStruct]:
        """Return edges as strict comparison reads them: one that names no commit fits no side."""
        return [replace(step, source_commit=NOT_STATED) if self._is_bare(step) else step for step in steps]

    @lazy
    def mixed(self) -> Sequence[TraversalStepStruct]:
        """The traversed edges whose ends lie on different sides, as they were logged, each once."""
        mixed = (step for walk in self.origin.walks for step in walk if self.is_mixed(step))
        found = {(one.source, one.relation, one.target, one.source_commit, one.target_commit): one for one in mixed}
        return [*found.values()]

    def is_mixed(self, step: TraversalStepStruct) -> bool:
        """Return whether each end of a traversed edge fits a side, but no side fits both."""
        if self.fitting(step) or step.source_commit == NOT_STATED:
            return False
        return all(any(side.fits(*at) for side in self.sides) for at in self._ends(step))

    # The other parts -------------------------------------------------------------------------------------------------

    @lazy
    def places(self) -> Places:
        """The places of nodes, with or without a side."""
        return _SidedPlaces(self.origin.places, self._plain)

    @lazy
    def absent(self) -> frozenset[Edge] | None:
        """The gold edges that no knowledge graph of the question holds; None if that isn't known."""
        absent = self.origin.absent
        if absent is None:
            return None
        plain = self._plain
        return frozenset(edge for edge in self.gold_edges if (plain[edge[0]], edge[1], plain[edge[2]]) in absent)

    @lazy
    def strict(self) -> Case:
        return self.origin.strict.sided

    @lazy
    def _side_ranks(self) -> dict[str, int]:
        ranks: dict[str, int] = {}
        for rank, (chunk, version) in enumerate(zip(self.chunks, self.chunk_versions, strict=True), 1):
            for side in self.sides_of(version):
                ranks.setdefault(side.named(chunk.id), rank)
        return ranks

    def sides_of(self, version: Version) -> list[Side]:
        """Return the sides that the version of a chunk fits."""
        return [side for side in self.sides if side.fits(version.repo, version.sha)]

    def fit(self, first: Version, second: Version) -> Fit | None:
        shared = [side for side in self.sides_of(first) if side.fits(second.repo, second.sha)]
        fits = [self.commits.verdict(first, second, side.commits) for side in shared]
        return next((fit for fit in fits if fit.compatible), fits[0] if fits else None)

    def belong_together(self, commits: set[tuple[str, str]]) -> bool:
        held: set[tuple[str, str]] = set()
        for side in self.sides:
            own = {one for one in commits if side.fits(*one)}
            known = self.commits.fits_one_set(own) or (own <= side.commits.items() and not self.commits.clash(own))
            if not known:
                return False
            held |= own
        return held == commits

    def rank_of(self, node: str) -> int | None:
        return self._side_ranks.get(node) if node in self.side_of else self.ranks.get(node)

    def plain_id(self, node: str) -> str:
        return self._plain.get(node, node)

    def pin_of(self, node: str) -> str | None:
        side = self.side_of.get(node)
        return super().pin_of(node) if side is None else side.commits.get(self.places.repo(node) or "")

    @lazy
    def pinned(self) -> set[tuple[str, str]]:
        return {one for side in self.sides for one in side.commits.items()}

    @lazy
    def versions(self) -> list[Version]:
        """The version of each distinct retrieved chunk at a version, in order of rank."""
        return [
            version for _, version in dict.fromkeys(zip(map(_id_of, self.chunks), self.chunk_versions, strict=True))
        ]


def _id_of(chunk: object) -> str:
    return chunk.id  # type: ignore[attr-defined,no-any-return]


def _picked(side: Side, own: list[Side], fitting: list[Side]) -> Side | None:
    """Return the side by which a retrieved path that is compared on a side names one of its edges."""
    for sides in (own, fitting):
        if side in sides:
            return side
        if sides:
            return sides[0]
    return None


def _sides(case: Case) -> list[Side]:
    """Return the side of each gold path that holds a step; paths of the same commits share theirs."""
    found: dict[frozenset[tuple[str, str]], Side] = {}
    of_path = []
    for path in case.question.paths:
        if not path.steps:
            continue
        own = {**case.question.commits, **path.commits}
        commits = {**case.pins, **{repo: case.sha(repo, name) for repo, name in path.commits.items()}}
        key = frozenset(commits.items())
        side = found.setdefault(key, Side(commits))
        of_path.append(side)
        for repo, sha in commits.items():
            side.names[repo] = min(filter(None, (side.names.get(repo), own.get(repo, sha))))
    repos = sorted({repo for side in found.values() for repo in side.commits})
    telling = [repo for repo in repos if len({side.commits.get(repo) for side in found.values()}) > 1] or repos
    for short in (True, False):
        for side in found.values():
            shown = [(repo, side.names[repo]) for repo in telling if repo in side.names]
            shown = [(repo, name[:7] if short and is_whole(name) else name) for repo, name in shown]
            several = len(telling) > 1
            side.label = ", ".join(f"{repo} {name}" if several else name for repo, name in shown) or "any commit"
        if len({side.label for side in found.values()}) == len(found):
            break
    return of_path


class _SidedPlaces(Places):
    """The places of nodes that may carry a side: those of the nodes without it, and names that end with it."""

    def __init__(self, places: Places, plain: Mapping[str, str]) -> None:
        super().__init__(lambda _: (), lambda: places.repositories, lambda: places.stated)
        self._places, self._plain, self.given = places, plain, places.given

    @cached_property
    def _found(self) -> NodeCache[str | None]:
        return NodeCache(lambda node: self._places.repo(self._plain.get(node, node)))

    def split(self, node: str) -> tuple[str | None, str | None]:
        return self._places.split(self._plain.get(node, node))

    def file(self, name: str) -> str:
        return self._places.file(self._plain.get(name, name))

    def names(self, node: str) -> tuple[str, ...]:
        plain = self._plain.get(node, node)
        return (*(f"{name}{node[len(plain) :]}" for name in self._places.names(plain)),)
