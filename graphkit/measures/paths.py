"""Measures of whole paths, and the first divergence of a traversal from the gold path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import Any

from graphkit.measures.base import Measure
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge, contained, same_edge, without_direction
from graphkit.measures.sided_case import sided
from graphkit.measures.unscored import NO_GOLD, NO_ORDER, NO_TRAVERSAL, Unscored
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


def in_any_order(required: list[Edge], walk: list[Edge], same: SamePair = same_edge) -> int:
    """Return how many required edges a traversal has, in whichever order."""
    return sum(_has(walk, edge, same) for edge in required)


def _has(walk: list[Edge], wanted: Edge, same: SamePair) -> bool:
    return wanted in walk or (same is not None and any(same(wanted, edge) for edge in walk))


@dataclass(frozen=True)
class PathMeasure(Measure):
    """Base of the measures of paths: the mean over required paths; of alternatives the best one counts.

    ``relation=False`` compares only the two ends of a step; ``directed=False`` ignores its direction. A gold path that
    isn't ordered may be walked in any order. A set of edges isn't scored against one that is: it has no order.
    """

    relation: bool = True
    directed: bool = True

    source = "path comparison of the gold and the retrieved paths"

    @property
    def compares_relations(self) -> bool:
        return self.relation

    def value(self, case: Case) -> float | Unscored:
        case = sided(case)
        if (
            self.relation
            and self.directed
            and case.plain
            and case.walk_logged
            and case.ordered
            and case.gold[0].ordered
        ):
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
        if not case.ordered and any(gold.ordered and gold.required for unit in case.units for gold in unit):
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
    """Return how many required steps the best retrieved path followed, from the start if the gold path is ordered."""
    if gold.followed is None or gold.followed[0] is not same:
        most = 0
        if not gold.ordered:
            most = max((in_any_order(gold.required, walk, same) for walk in _walks(case)), default=0)
            gold.followed = same, most
            return most
        for walk in case.walked_paths:
            count, _ = followed(gold.required, walk, same)
            if count > most:
                most = count
        gold.followed = same, most
    return gold.followed[1]


def _walks(case: Case) -> list[list[Edge]]:
    """Return the retrieved paths; a traversal without an order is one."""
    return case.walked_paths if case.ordered else [[edge for walk in case.walked_paths for edge in walk]]


class PathExact(PathMeasure):
    """Share of required paths that some retrieved path equals step by step.

    Optional steps may be present or absent. A gold path that isn't ordered has the same edges in any order.
    """

    query = "path_exact"
    query_parameters = {"unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        if not gold.ordered:
            required, edges = gold.required, gold.edges
            walks = (walk for walk in _walks(case) if in_any_order(required, walk, same) == len(required))
            return _WHOLE if any(all(_has(edges, edge, same) for edge in walk) for walk in walks) else _NOTHING
        if same is None and gold.has_no_optional:
            return _WHOLE if gold.edges in case.walked_paths else _NOTHING
        return _WHOLE if any(equals(gold, walk, same) for walk in case.walked_paths) else _NOTHING


class PathInOrder(PathMeasure):
    """Share of required paths whose required steps appear in order in one retrieved path.

    Those of a gold path that isn't ordered may appear in any order.
    """

    query = "path_prefix"
    query_parameters = {"complete": True, "unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        return _WHOLE if longest_followed(gold, case, same) == len(gold.required) else _NOTHING


class PathPrefix(PathMeasure):
    """Required steps followed from the start without a miss / required steps, best retrieved path.

    The best retrieved path counts; other steps may lie between two followed ones, as in ``PathInOrder``. Of a gold path
    that isn't ordered any step counts that it has.
    """

    query = "path_prefix"
    query_parameters = {"complete": False, "unscored": NO_GOLD, "unlogged": NO_TRAVERSAL, "unordered": NO_ORDER}

    def details(self, case: Case) -> Mapping[str, list[str]]:
        if not case.walk_logged:
            return {}
        return {"left": [f"{one.name} at step {one.position}" for one in first_divergences(case)]}

    def _share(self, gold: Gold, case: Case, same: SamePair) -> tuple[int, int]:
        return longest_followed(gold, case, same), len(gold.required)


@dataclass(frozen=True)
class Divergence:
    """The first gold step that the traversal didn't follow, and the step that it took instead.

    In a set of edges (``ordered`` is False), the step is the first one that the set lacks although it reaches ``node``.

    Attributes
    ----------
    path, number, position
        The id of the gold path, its place among the question's paths, and the place of the step in it, from 0.
    node, repo, commit
        The start of the step.
    went_to, went_by
        The end and the relation of an edge from there that no gold path has; None without one.
    entered
        Whether the traversal came to any node of the gold path.
    joined
        The place of the first step of the path, optional ones included, that was traversed; None if none was.
    elsewhere
        Whether the step was traversed, but in no retrieved path behind the steps before it.
    stopped
        Whether the traversal ended at ``node``: it came there, each retrieved path with this node ends there, and no
        later step of the gold path was traversed. A set of edges doesn't stop anywhere.
    reached_end
        Whether the traversal came to the last node of the gold path.
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
    joined: int | None = None
    elsewhere: bool = False
    stopped: bool = False
    reached_end: bool = False
    number: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """The id of the gold path, else its place."""
        return str(self.number) if self.path is None else self.path

    @property
    def turn(self) -> Edge | None:
        """The edge outside gold by which the traversal left the path; None without one or without an order."""
        return (self.node, self.went_by, self.went_to) if self.ordered and self.went_to is not None else None

    def row(self) -> dict[str, Any]:
        """Return the divergence as the query ``wrong-turns`` does, without its question."""
        row = vars(self).copy()
        del row["number"]
        return row | {"path": self.name, "expected_by": row.pop("relation")}


def first_divergences(case: Case) -> list[Divergence]:
    """Return the first divergence of each required path that was not followed to its end, in the order of the paths.

    The alternative and the retrieved path that follow most count. Ties go to a path that went on from the node of the
    divergence, then to the first in the order of ``Case.units``. A traversal that wasn't logged has no divergence.
    """
    if not case.walk_logged:
        return []
    case = sided(case)
    found = []
    for unit in case.units:
        options = [
            (_divergence if case.ordered and gold.ordered else _unordered_divergence)(gold, case)
            for gold in unit
            if gold.required
        ]
        if options:
            _, divergence = max(options, key=lambda option: option[0])
            if divergence is not None:
                found.append(divergence)
    return found


def _divergence(gold: Gold, case: Case) -> tuple[tuple[float, bool], Divergence | None]:
    """Return how well a gold path was followed, and the divergence if it wasn't to its end."""
    required = gold.required
    right = contained(case.walked, case.gold_edges, case.untyped)
    best: tuple[int, bool, Edge | None, list[TraversalStepStruct]] = (0, False, None, [])
    for walk, edges in zip(case.walks, case.walked_paths, strict=True):
        count, end = followed(required, edges)
        if count == len(required):
            return (1.0, True), None
        turn = next((edge for edge in edges[end:] if edge[0] == required[count][0] and edge not in right), None)
        if (count, turn is not None) > best[:2] or not best[3]:
            best = (count, turn is not None, turn, walk)
    count, _, turn, walk = best
    return (count / len(required), turn is not None), divergence_at(gold, case, count, walk, turn)


def _unordered_divergence(gold: Gold, case: Case) -> tuple[tuple[float, bool], Divergence | None]:
    """Return the share of a gold path in a set of edges, and the first step that it lacks from a node it reached."""
    walked, required = case.walked, gold.required
    found = contained(gold.needed, walked, case.untyped)
    share = sum(edge in found for edge in required) / len(required)
    lacking = [place for place, edge in enumerate(required) if edge not in found and edge[0] in case.reached]
    if not lacking:
        return (share, True), None
    node = required[lacking[0]][0]
    right = contained(walked, case.gold_edges, case.untyped)
    others = (edge for path in case.walked_paths for edge in path if edge[0] == node and edge not in right)
    turn = next(others, None)
    steps = [step for walk in case.walks for step in walk]
    return (share, turn is not None), divergence_at(gold, case, lacking[0], steps, turn)


def divergence_at(
    gold: Gold, case: Case, place: int, walk: Sequence[TraversalStepStruct], turn: Edge | None
) -> Divergence:
    """Return the divergence at a required step.

    Parameters
    ----------
    place
        The place of the step among the required ones.
    walk
        The steps that tell the commit at which its start was read.
    turn
        The edge outside gold that was taken there.
    """
    source, relation, target = gold.required[place]
    position = [position for position, optional in enumerate(gold.optional) if not optional][place]
    found = contained(set(gold.edges), case.walked, case.untyped)
    traversed = [number for number, edge in enumerate(gold.edges) if edge in found]
    return Divergence(
        number=case.gold.index(gold),
        path=gold.id,
        position=position,
        node=source,
        repo=case.places.repo(source),
        commit=_commit_at(source, walk) or case.pin_of(source),
        relation=relation,
        expected=target,
        went_to=turn[2] if turn is not None else None,
        went_by=turn[1] if turn is not None else None,
        entered=any(node in case.reached for edge in gold.edges for node in (edge[0], edge[2])),
        ordered=case.ordered and gold.ordered,
        joined=traversed[0] if traversed else None,
        elsewhere=position in traversed,
        stopped=gold.ordered and not any(number >= position for number in traversed) and ended_at(case, source),
        reached_end=any(end == gold.edges[-1][2] for _, _, end in case.walked),
    )


def ended_at(case: Case, node: str) -> bool:
    """Return whether a traversal came to a node and ended there: each retrieved path with the node ends at it.

    A set of edges doesn't end anywhere.
    """
    ends = [walk[-1][2] == node for walk in case.walked_paths if any(node in (edge[0], edge[2]) for edge in walk)]
    left = any(source == node for source, _, _ in case.walked)
    return case.ordered and bool(ends) and all(ends) and not left


def _commit_at(node: str, walk: Sequence[TraversalStepStruct]) -> str | None:
    """Return the commit at which a traversal read a node, if it is known."""
    for step in walk:
        if step.source == node and step.source_commit:
            return step.source_commit
        if step.target == node and step.target_commit:
            return step.target_commit
    return None
