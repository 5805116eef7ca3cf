"""Measures of whole paths, and the first divergence of a traversal from the gold path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import lcm
from typing import Any

from graphkit.measures.base import NO_GOLD, NO_ORDER, NO_TRAVERSAL, Measure, Unscored
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge, contained, same_edge, without_direction
from graphkit.records.ids import repo_of
from graphkit.records.structs import WalkStepStruct

#: Tells whether two edges that aren't equal match nonetheless; None where none do.
SamePair = Callable[[Edge, Edge], bool] | None


def equals(gold: Gold, walk: list[Edge], same: SamePair = same_edge) -> bool:
    """Return whether a traversal equals a gold path step by step, with each optional step present or absent.

    It keeps the set of gold positions that the traversal may have reached, so that a step which is both optional and
    repeated is read in the way that fits.
    """
    if gold.has_no_optional and (same is None or len(walk) != len(gold.edges)):
        return walk == gold.edges
    count = len(gold.edges)
    reached = {0}
    for edge in walk:
        following = set()
        for start in reached:
            for position in range(start, count):
                if edge == gold.edges[position] or (same is not None and same(gold.edges[position], edge)):
                    following.add(position + 1)
                if not gold.optional[position]:
                    break
        reached = following
        if not reached:
            return False
    return any(all(gold.optional[start:]) for start in reached)


def followed(required: list[Edge], walk: list[Edge], same: SamePair = same_edge) -> tuple[int, int]:
    """Return how many required edges from the start the traversal has in order, and the index behind the last of them.

    Other steps may lie between. The index is 0 if none was followed.
    """
    if not required:
        return 0, 0
    count, end, wanted = 0, 0, required[0]
    for index, edge in enumerate(walk, 1):
        if edge == wanted or (same is not None and same(wanted, edge)):
            count, end = count + 1, index
            if count == len(required):
                break
            wanted = required[count]
    return count, end


@dataclass(frozen=True)
class PathMeasure(Measure):
    """Base of the measures of paths: the mean over required paths; of alternatives the best one counts.

    ``relation=False`` compares only the two ends of a step; ``directed=False`` ignores its direction. A set of edges is
    not scored: it has no order.
    """

    relation: bool = True
    directed: bool = True

    source = "path comparison of the gold and the retrieved paths"

    def value(self, case: Case) -> float | Unscored:
        if self.relation and self.directed and case.plain and case.walk_logged and case.ordered:
            done, whole = self._share(case.gold[0], case, None)
            return done / whole
        # Where every edge carries its relation, only equal ones match.
        same: SamePair = _same_ends if not self.relation else same_edge if case.untyped else None
        if not self.directed:
            same = _same_undirected if self.relation else _same_ends_undirected
        shares = []
        for unit in case.units:
            options = [self._share(gold, case, same) for gold in unit if gold.required]
            if options:
                shares.append(options[0] if len(options) == 1 else max(options, key=_quotient))
        if not shares:
            return Unscored(NO_GOLD, of_question=True)
        if not case.walk_logged:
            return Unscored(NO_TRAVERSAL)
        if not case.ordered:
            return Unscored(NO_ORDER)
        # Over a common denominator, and divided once: equal means are equal floats, in whatever order the paths come.
        wholes = {whole for _, whole in shares}
        if len(wholes) == 1:
            return sum([done for done, _ in shares]) / (wholes.pop() * len(shares))
        common = lcm(*wholes)
        return sum([done * (common // whole) for done, whole in shares]) / (common * len(shares))

    @abstractmethod
    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        """Return how much of one gold path the retrieved paths followed, and how much there is."""


#: The shares of a path that counts only as a whole.
_WHOLE, _NOTHING = (1, 1), (0, 1)


def _quotient(share: tuple[int, int]) -> float:
    return share[0] / share[1]


def _same_ends(first: Edge, second: Edge) -> bool:
    return first[0] == second[0] and first[2] == second[2]


def _same_undirected(first: Edge, second: Edge) -> bool:
    return same_edge(without_direction(first), without_direction(second))


def _same_ends_undirected(first: Edge, second: Edge) -> bool:
    return {first[0], first[2]} == {second[0], second[2]}


def longest_followed(gold: Gold, case: Case, same: SamePair) -> int:
    """Return how many required steps from its start the best retrieved path followed."""
    if gold.followed is None or gold.followed[0] is not same:
        most = 0
        for walk in case.walked_paths:
            count, _ = followed(gold.required, walk, same)
            if count > most:
                most = count
        gold.followed = same, most
    return gold.followed[1]


@dataclass(frozen=True)
class PathExact(PathMeasure):
    """Share of required paths that some retrieved path equals step by step.

    Optional steps may be present or absent.
    """

    query = "path_exact"
    query_parameters = {"unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        if same is None and gold.has_no_optional:
            return _WHOLE if gold.edges in case.walked_paths else _NOTHING
        return _WHOLE if any(equals(gold, walk, same) for walk in case.walked_paths) else _NOTHING


@dataclass(frozen=True)
class PathInOrder(PathMeasure):
    """Share of required paths whose required steps appear in order in one retrieved path."""

    query = "path_prefix"
    query_parameters = {"complete": True, "unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        return _WHOLE if longest_followed(gold, case, same) == len(gold.required) else _NOTHING


@dataclass(frozen=True)
class PathPrefix(PathMeasure):
    """Required steps followed from the start without a miss / required steps, best retrieved path.

    The best retrieved path counts; other steps may lie between two followed ones, as in ``PathInOrder``.
    """

    query = "path_prefix"
    query_parameters = {"complete": False, "unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        return longest_followed(gold, case, same), len(gold.required)


@dataclass(frozen=True)
class Divergence:
    """The first gold step that was not followed, and where the traversal went instead.

    ``path`` is the id of the gold path and ``number`` its place among the question's paths; ``position`` is the place
    of the step in its path, from 0. ``node``, ``repo`` and ``commit`` say where the traversal stood. ``went_to`` is
    None where it stopped there. ``entered`` is False where the traversal followed no step of the gold path and never
    came to ``node``: it didn't leave the path, it never was on it.

    In a set of edges (``ordered`` is False), the step is the first one that the set lacks although it comes to
    ``node``, and ``went_to`` is the end of an edge from there that no gold path has.
    """

    path: str | None
    position: int
    node: str
    repo: str | None
    commit: str | None
    relation: str | None
    expected: str
    went_to: str | None
    went_by: str | None
    entered: bool = True
    ordered: bool = True
    number: int = field(default=0, compare=False)

    @property
    def turn(self) -> Edge | None:
        """The edge by which the traversal left the path; None where it stopped, or where its edges have no order."""
        return (self.node, self.went_by, self.went_to) if self.ordered and self.went_to is not None else None

    def row(self) -> dict[str, Any]:
        """Return the divergence as the query ``wrong-turns`` does, without its question."""
        row = asdict(self)
        number = row.pop("number")
        return row | {"path": str(number) if self.path is None else self.path, "expected_by": row.pop("relation")}


def first_divergences(case: Case) -> list[Divergence]:
    """Return the first divergence of each required path that was not followed to its end, in the order of the paths.

    Of alternatives, and of retrieved paths, the one that follows most is looked at; of equals, one that went on from
    the node where it left the gold path, then the first in the order of ``Case.units``. Of a walk that wasn't logged
    nothing can be said.
    """
    if not case.walk_logged:
        return []
    diverged = _divergence if case.ordered else _unordered_divergence
    found = []
    for unit in case.units:
        options = [diverged(gold, case) for gold in unit if gold.required]
        if options:
            _, divergence = max(options, key=lambda option: option[0])
            if divergence is not None:
                found.append(divergence)
    return found


def _divergence(gold: Gold, case: Case) -> tuple[tuple[float, bool], Divergence | None]:
    """Return how well a gold path was followed, and the divergence if it wasn't to its end."""
    required = gold.required
    positions = [place for place, optional in enumerate(gold.optional) if not optional]
    best: tuple[int, bool, WalkStepStruct | None, list[WalkStepStruct]] = (0, False, None, [])
    for walk, edges in zip(case.walks, case.walked_paths, strict=True):
        count, end = followed(required, edges)
        if count == len(required):
            return (1.0, True), None
        turn = next((step for step in walk[end:] if step.source == required[count][0]), None)
        if (count, turn is not None) > best[:2] or not best[3]:
            best = (count, turn is not None, turn, walk)
    count, _, turn, walk = best
    source, relation, target = required[count]
    divergence = Divergence(
        number=case.gold.index(gold),
        path=gold.id,
        position=positions[count],
        node=source,
        repo=repo_of(source),
        commit=_commit_at(source, walk) or case.pins.get(repo_of(source) or ""),
        relation=relation,
        expected=target,
        went_to=turn.target if turn is not None else None,
        went_by=turn.relation if turn is not None else None,
        entered=count > 0 or any(source in (edge[0], edge[2]) for edge in case.walked),
    )
    return (count / len(required), turn is not None), divergence


def _unordered_divergence(gold: Gold, case: Case) -> tuple[tuple[float, bool], Divergence | None]:
    """Return which share of a gold path a set of edges holds, and the first step that it lacks from a node it has."""
    walked, required = case.walked, gold.required
    found = contained(gold.needed, walked, case.untyped)
    share = sum(edge in found for edge in required) / len(required)
    reached = {node for source, _, target in walked for node in (source, target)}
    places = (place for place, optional in enumerate(gold.optional) if not optional)
    lacking = [
        (place, edge) for place, edge in zip(places, required, strict=True) if edge not in found and edge[0] in reached
    ]
    if not lacking:
        return (share, True), None
    position, (source, relation, target) = lacking[0]
    right = contained(walked, case.gold_edges, case.untyped)
    others = (edge for path in case.walked_paths for edge in path if edge[0] == source and edge not in right)
    turn = next(others, None)
    divergence = Divergence(
        number=case.gold.index(gold),
        path=gold.id,
        position=position,
        node=source,
        repo=repo_of(source),
        commit=_commit_at(source, [step for walk in case.walks for step in walk])
        or case.pins.get(repo_of(source) or ""),
        relation=relation,
        expected=target,
        went_to=turn[2] if turn is not None else None,
        went_by=turn[1] if turn is not None else None,
        ordered=False,
    )
    return (share, turn is not None), divergence


def _commit_at(node: str, walk: list[WalkStepStruct]) -> str | None:
    """Return the commit at which a walk read a node, where the walk says so."""
    for step in walk:
        if step.source == node and step.source_commit:
            return step.source_commit
        if step.target == node and step.target_commit:
            return step.target_commit
    return None


__all__ = [
    "Divergence",
    "PathExact",
    "PathInOrder",
    "PathPrefix",
    "equals",
    "first_divergences",
    "followed",
]
