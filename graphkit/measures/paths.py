"""Measures of whole paths, and the first divergence of a traversal from the gold path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import lcm
from typing import Any

from graphkit.measures.base import Measure
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge, contained, same_edge, without_direction
from graphkit.measures.unscored import NO_GOLD, NO_ORDER, NO_TRAVERSAL, Unscored
from graphkit.records.ids import repo_of
from graphkit.records.structs import TraversalStepStruct

#: Returns whether two different edges match; None if only equal edges do.
SamePair = Callable[[Edge, Edge], bool] | None


def equals(gold: Gold, walk: list[Edge], same: SamePair = same_edge) -> bool:
    """Return whether a traversal equals a gold path step by step, with each optional step present or absent.

    The set of gold positions that the traversal may have reached resolves a step that is both optional and repeated.
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
    """Return how many required edges from the start the traversal has in order, and the index after the last one.

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
        # Divided once, over a common denominator: equal means are equal floats, whatever the order of the paths.
        wholes = {whole for _, whole in shares}
        if len(wholes) == 1:
            return sum([done for done, _ in shares]) / (wholes.pop() * len(shares))
        common = lcm(*wholes)
        return sum([done * (common // whole) for done, whole in shares]) / (common * len(shares))

    @abstractmethod
    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        """Return the followed part of one gold path, and the whole."""


#: The shares of a path that counts only if it is whole.
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


class PathInOrder(PathMeasure):
    """Share of required paths whose required steps appear in order in one retrieved path."""

    query = "path_prefix"
    query_parameters = {"complete": True, "unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        return _WHOLE if longest_followed(gold, case, same) == len(gold.required) else _NOTHING


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
    """The first gold step that the traversal didn't follow, and the step that it took instead.

    ``path`` is the id of the gold path and ``number`` its place among the question's paths; ``position`` is the place
    of the step in its path, from 0. ``node``, ``repo`` and ``commit`` are the start of the step. ``went_to`` is None
    if the traversal stopped there. ``entered`` is False if the traversal followed no step of the gold path and never
    reached ``node``, so that it was never on the path.

    In a set of edges (``ordered`` is False), the step is the first one that the set lacks although it reaches
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
        """The edge by which the traversal left the path; None if it stopped, or if its edges have no order."""
        return (self.node, self.went_by, self.went_to) if self.ordered and self.went_to is not None else None

    def row(self) -> dict[str, Any]:
        """Return the divergence as the query ``wrong-turns`` does, without its question."""
        row = asdict(self)
        number = row.pop("number")
        return row | {"path": str(number) if self.path is None else self.path, "expected_by": row.pop("relation")}


def first_divergences(case: Case) -> list[Divergence]:
    """Return the first divergence of each required path that was not followed to its end, in the order of the paths.

    The alternative and the retrieved path that follow most count. Ties go to a path that went on from the node of the
    divergence, then to the first in the order of ``Case.units``. A traversal that wasn't logged has no divergence.
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
    best: tuple[int, bool, TraversalStepStruct | None, list[TraversalStepStruct]] = (0, False, None, [])
    for walk, edges in zip(case.walks, case.walked_paths, strict=True):
        count, end = followed(required, edges)
        if count == len(required):
            return (1.0, True), None
        turn = next((step for step in walk[end:] if step.source == required[count][0]), None)
        if (count, turn is not None) > best[:2] or not best[3]:
            best = (count, turn is not None, turn, walk)
    count, _, turn, walk = best
    node = required[count][0]
    entered = count > 0 or any(node in (source, target) for source, _, target in case.walked)
    went = (turn.relation, turn.target) if turn is not None else (None, None)
    return (count / len(required), turn is not None), _diverged(gold, case, count, walk, went, entered)


def _unordered_divergence(gold: Gold, case: Case) -> tuple[tuple[float, bool], Divergence | None]:
    """Return the share of a gold path in a set of edges, and the first step that it lacks from a node it reached."""
    walked, required = case.walked, gold.required
    found = contained(gold.needed, walked, case.untyped)
    share = sum(edge in found for edge in required) / len(required)
    reached = {node for source, _, target in walked for node in (source, target)}
    lacking = [place for place, edge in enumerate(required) if edge not in found and edge[0] in reached]
    if not lacking:
        return (share, True), None
    node = required[lacking[0]][0]
    right = contained(walked, case.gold_edges, case.untyped)
    others = (edge for path in case.walked_paths for edge in path if edge[0] == node and edge not in right)
    turn = next(others, None)
    went = (turn[1], turn[2]) if turn is not None else (None, None)
    steps = [step for walk in case.walks for step in walk]
    return (share, turn is not None), _diverged(gold, case, lacking[0], steps, went)


def _diverged(
    gold: Gold,
    case: Case,
    place: int,
    walk: list[TraversalStepStruct],
    went: tuple[str | None, str | None],
    entered: bool = True,
) -> Divergence:
    """Return the divergence at a required step; ``went`` is the relation and the node that were taken instead."""
    source, relation, target = gold.required[place]
    return Divergence(
        number=case.gold.index(gold),
        path=gold.id,
        position=[position for position, optional in enumerate(gold.optional) if not optional][place],
        node=source,
        repo=repo_of(source),
        commit=_commit_at(source, walk) or case.pins.get(repo_of(source) or ""),
        relation=relation,
        expected=target,
        went_to=went[1],
        went_by=went[0],
        entered=entered,
        ordered=case.ordered,
    )


def _commit_at(node: str, walk: list[TraversalStepStruct]) -> str | None:
    """Return the commit at which a traversal read a node, if it is known."""
    for step in walk:
        if step.source == node and step.source_commit:
            return step.source_commit
        if step.target == node and step.target_commit:
            return step.target_commit
    return None
