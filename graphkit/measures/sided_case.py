"""A question over two versions and the answer of one run, compared side by side."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from graphkit.measures.case import Case
from graphkit.measures.lazy import lazy
from graphkit.measures.matching import NOT_STATED, Edge
from graphkit.measures.sides import Ends, S, Side, SidedPlaces, ends_of, is_bare, picked_side, sides_of
from graphkit.records.commits import Fit, Version
from graphkit.records.ids import Places
from graphkit.records.structs import AnswerStruct, QuestionStruct, TraversalStepStruct


def at_sides(case: Case) -> SidedCase | None:
    """Return the case of :func:`sided` if a gold path has commits of its own, else None; it is made once."""
    if not case.about_sides:
        return None
    found = case.derived.get("sides")
    if not isinstance(found, SidedCase):
        found = case.derived["sides"] = SidedCase(case)
    return found


def sided(case: Case) -> Case:
    """Return the case by which edges, paths and versions are compared.

    It is a :class:`SidedCase` if a gold path has commits of its own, else the given one.
    """
    return (at_sides(case) or case) if case.about_sides else case


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
        How many distinct edges don't show which version was read.
    """

    def __init__(self, case: Case) -> None:
        paths = [path for path in case.question.paths if path.steps]
        self.origin = case
        self.path_sides = of_path = sides_of(case.question, case.pins, case.sha)
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
                tuple([picked_side(side, own, sides) for own, sides in zip(owned, fitting, strict=True)]): None
                for side in self.sides
            }
            for picked in named:
                self.of_walk.append(index)
                for position, (step, side) in enumerate(zip(walk, picked, strict=True)):
                    one = replace(self._at(side, step), path=len(self.of_walk), position=position)
                    steps.append(one)
                    counts = side in (owned[position] or fitting[position][:1]) or side is None
                    (once if counts else again).add((one.source, one.relation, one.target))
            bare |= {(step.source, step.relation, step.target) for step in walk if self.is_bare(step)}
        self.bare, self.twice = len(bare), again - once
        return replace(answer, traversal=steps, walked_before=before)

    def fitting(self, step: TraversalStepStruct) -> list[Side]:
        """Return the sides that a traversed edge fits; without a commit it fits any, but none in strict comparison."""
        if NOT_STATED in (step.source_commit, step.target_commit):  # an edge may have been turned round
            return []
        return [side for side in self.sides if all(side.fits(*at) for at in self._ends(step))]

    def _ends(self, step: TraversalStepStruct) -> Ends:
        return ends_of(step, self.origin.places, self.origin.sha)

    def is_bare(self, step: TraversalStepStruct) -> bool:
        """Return whether an edge doesn't show which version was read."""
        return is_bare(self._ends(step), self.sides)

    @lazy
    def mixed(self) -> Sequence[TraversalStepStruct]:
        """The traversed edges whose ends lie on different sides, as they were logged, each once."""
        mixed = (step for walk in self.origin.walks for step in walk if self.is_mixed(step))
        found = {(one.source, one.relation, one.target, one.source_commit, one.target_commit): one for one in mixed}
        return [*found.values()]

    def is_mixed(self, step: TraversalStepStruct) -> bool:
        """Return whether each end of a traversed edge fits a side, but no side fits both."""
        if self.fitting(step) or NOT_STATED in (step.source_commit, step.target_commit):
            return False
        return all(any(side.fits(*at) for side in self.sides) for at in self._ends(step))

    # The other parts -------------------------------------------------------------------------------------------------

    @lazy
    def places(self) -> Places:
        """The places of nodes, with or without a side."""
        return SidedPlaces(self.origin.places, self._plain)

    @lazy
    def absent(self) -> frozenset[Edge] | None:
        """The gold edges that no knowledge graph of the question holds; None if that isn't known."""
        absent, sides = self.origin.absent_gold, self.path_sides
        if absent is None:
            return None
        return frozenset((sides[at].named(start), how, sides[at].named(end)) for at, (start, how, end) in absent)

    @lazy
    def strict(self) -> Case:
        return sided(self.origin.strict)

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
    def off_pin(self) -> set[tuple[str, str]]:
        """The known (repository, sha) that were read and fit no side."""
        return {one for one in self.touched if not any(side.fits(*one) for side in self.sides)}

    @lazy
    def versions(self) -> list[Version]:
        """The version of each distinct retrieved chunk at a version, in order of rank."""
        each = zip([chunk.id for chunk in self.chunks], self.chunk_versions, strict=True)
        return [version for _, version in dict.fromkeys(each)]
