"""The start of a walk: the nodes that a system linked the question to, against those at which a walk has to begin."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from graphkit.measures.base import Measure
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge
from graphkit.measures.missed import CountedPath, counted_paths
from graphkit.measures.sided_case import sided
from graphkit.measures.unscored import Unscored
from graphkit.records.ids import Places

NO_GOLD_SEED = "neither gold seeds nor a gold path with a required step"
NO_SEEDS = "the record has no seeds (not logged)"
NOTHING_LINKED = "the question was linked to nothing"


def linked(case: Case) -> dict[str, int] | None:
    """Return the first rank, from 1, of each node that the record linked the question to; None if it logs no seeds."""
    if case.answer is None or case.answer.seeds is None:
        return None
    ranks: dict[str, int] = {}
    for rank, seed in enumerate(case.answer.seeds, 1):
        ranks.setdefault(seed.id, rank)
    return ranks


def gold_seeds(case: Case, ranks: Mapping[str, int] = MappingProxyType({})) -> list[str]:
    """Return the nodes at which the walk has to begin: the question's own seeds, else the starts of the required paths.

    A path begins at the source of its first required step. Of alternatives the one counts whose start has the best of
    ``ranks``, of equals the first of ``Case.units``. A node counts once, whatever its side.
    """
    if case.question.seeds:
        return [*dict.fromkeys(case.question.seeds)]
    at_sides = sided(case)
    starts = ([at_sides.plain_id(path.start) for path in unit if path.start is not None] for unit in at_sides.units)
    return [*dict.fromkeys(min(unit, key=lambda node: ranks.get(node, inf)) for unit in starts if unit)]


def came_to(case: Case) -> set[str]:
    """Return the nodes that the walk came to, whatever their side, and those that earlier turns came to."""
    earlier = (end for source, _, target in case.walked_before or () for end in (source, target))
    return {*map(case.plain_id, case.reached), *earlier}


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A start at which the walk had to begin, and to which the question wasn't linked.

    Attributes
    ----------
    start
        The node.
    seeds
        What the question was linked to instead, best first.
    namesakes
        Those of them that have the name of ``start`` in another repository or at another path.
    """

    start: str
    seeds: tuple[str, ...]
    namesakes: tuple[str, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The first namesake, else the best seed; nothing without a seed."""
        return (self.namesakes or self.seeds)[:1]


def unlinked(case: Case, gold: Gold, source: str) -> Unlinked | None:
    """Return why a walk couldn't take a step of a path from ``source``: the question wasn't linked to the path's start.

    None if the log has no seeds, the question was linked to a start of the path, or the walk came to one, or to the
    source of the step, all the same. That of an alternative is one, too. Where the question has seeds of its own and
    they don't name the start of the path, each of them is one instead.
    """
    ranks = linked(case)
    if ranks is None or gold.start is None:
        return None
    start, own = case.plain_id(gold.start), case.question.seeds
    unit = next((unit for unit in case.units if any(one is gold for one in unit)), [])
    alternatives = [case.plain_id(one.start) for one in unit if one.start is not None]
    starts = [start, *alternatives] if not own or start in own else own
    if not ranks.keys().isdisjoint(starts) or not came_to(case).isdisjoint((*starts, case.plain_id(source))):
        return None
    return Unlinked(starts[0], tuple(ranks), namesakes(starts[0], ranks, case.places))


def unlinked_paths(case: Case) -> Iterator[tuple[CountedPath, int, Unlinked]]:
    """Yield the gold paths that broke since the question wasn't linked to their starts, with the first missed step.

    A path whose first missed edge isn't in the knowledge graph broke for that. The case has its sides.
    """
    for path in counted_paths(case, boundaries=False) if case.walk_logged else ():
        position, edge = next(iter(path.missed), (0, None))
        if edge is not None and edge not in (case.absent or ()) and (why := unlinked(case, path.gold, edge[0])):
            yield path, position, why


class LostEdge(NamedTuple):
    """An edge that a walk missed on a path to whose start the question wasn't linked.

    ``namesake`` is whether it was linked to a namesake of a start, and ``boundary`` the repositories between which the
    edge lies; empty within one repository, or if BoundaryRecall counts another alternative.
    """

    edge: Edge
    namesake: bool
    boundary: tuple[str, ...] = ()


def lost_at_start(case: Case) -> tuple[LostEdge, ...]:
    """Return the missed edges of the paths of :func:`unlinked_paths`, each once; nothing without seeds."""
    if linked(case) is None or case.failure is not None:
        return ()
    case, lost = sided(case), dict[Edge, bool]()
    for path, _, why in unlinked_paths(case):
        for _, edge in path.missed:
            lost[edge] = lost.get(edge, False) or bool(why.namesakes)
    counted = counted_paths(case, boundaries=True) if lost else ()
    missed, repo = {edge for path in counted for edge in path.required - path.walked}, case.places.repo
    across = {edge: (repo(edge[0]) or "", repo(edge[2]) or "") for edge in missed}
    return tuple(LostEdge(edge, namesake, across.get(edge, ())) for edge, namesake in lost.items())


def lost_by_boundary(questions: Iterable[Sequence[LostEdge]]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return in how many questions each boundary was missed for the start, and in how many of them for a namesake.

    Most questions come first.
    """
    every, namesakes = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for lost in questions:
        every.update({one.boundary for one in lost if one.boundary})
        namesakes.update({one.boundary for one in lost if one.boundary and one.namesake})
    return {pair: (every[pair], namesakes[pair]) for pair in sorted(every, key=lambda pair: (-every[pair], pair))}


def not_linked_as_json(questions: Iterable[Sequence[LostEdge]]) -> dict[str, dict[str, int]]:
    """Return :func:`lost_by_boundary` as results hold it, boundaries as slices name them; nothing that is empty."""
    counts = sorted(lost_by_boundary(questions).items())
    columns = ({" -> ".join(pair): some[at] for pair, some in counts if some[at]} for at in (0, 1))
    return {name: column for name, column in zip(BY_BOUNDARY, columns, strict=True) if column}


#: What results count by boundary: questions that weren't linked to a start, and those linked to a namesake of it.
BY_BOUNDARY = ("not_linked", "linked_to_namesake")


def not_linked(case: Case) -> list[dict[str, Any]]:
    """Return the paths of :func:`unlinked_paths` as the query ``not-linked`` does."""
    case, found = sided(case), []
    for path, position, why in unlinked_paths(case):
        row = {"path": case.path_name(path.gold), "position": position, "start": why.start}
        row |= {"seed": next(iter(why.shown), None), "namesake": bool(why.namesakes), "seeds": len(why.seeds)}
        found.append(row)
    return sorted(found, key=lambda row: row["path"])


def namesakes(node: str, others: Iterable[str], places: Places) -> tuple[str, ...]:
    """Return the other nodes with the name of a node: its symbol, else the name of its file, else its id, in any case.

    >>> namesakes("web:a/login.ts#submit", ["api:login.py#submit", "web:a/login.ts", "web:b.ts#Submit"], Places())
    ('api:login.py#submit', 'web:b.ts#Submit')
    """
    name = places.short_name(node).casefold()
    return tuple(one for one in others if one != node and places.short_name(one).casefold() == name)


#: The most edges between a seed and a gold path that are counted, as in the query ``seed-distances``.
FARTHEST = 8


def distance(seeds: Iterable[str], nodes: Collection[str], beside: Mapping[str, Collection[str]]) -> int | None:
    """Return the number of edges from the nearest seed to one of some nodes; None if none is near.

    ``beside`` are the neighbours of each node, in any direction.

    >>> chain = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
    >>> distance(["a", "b"], ["c"], chain), distance(["a"], ["a"], chain), distance(["a"], ["d"], chain)
    (1, 0, None)
    """
    front = seen = {*seeds}
    for hops in range(FARTHEST + 1):
        if not front.isdisjoint(nodes):
            return hops
        front = {other for one in front for other in beside.get(one, ())} - seen
        seen = seen | front
    return None


class SeedMeasure(Measure):
    """Base of the measures that compare the seeds of a record with those of gold."""

    query = "seeds"

    def value(self, case: Case) -> float | Unscored:
        ranks = linked(case)
        gold = gold_seeds(case, ranks or {})
        if not gold:
            return Unscored(NO_GOLD_SEED, of_question=True)
        return Unscored(NO_SEEDS) if ranks is None else self._compared(gold, ranks)

    @abstractmethod
    def _compared(self, gold: Collection[str], ranks: Mapping[str, int]) -> float | Unscored:
        """Return the value, if gold has a seed and the record logs its seeds."""


def _parameters(compared: str) -> dict[str, object]:
    reasons = {"unscored": NO_GOLD_SEED, "unlogged": NO_SEEDS, "unlinked": NOTHING_LINKED}
    return {"compared": compared, **reasons}


class SeedRecall(SeedMeasure):
    """Gold seeds that the question was linked to / gold seeds.

    Gold seeds are the question's ``seeds``, else the nodes at which its required paths begin: of each the source of the
    first required step, of alternatives that of the one whose start was linked at the best rank. A node counts once.
    Seeds match by id, whatever the commits of their path. Without a seed it is 0.
    """

    source = "recall of entity linking; recall of topic entities in question answering over knowledge graphs"
    query_parameters = MappingProxyType(_parameters("recall"))
    aliases = ("linking_recall",)
    target = 0.8
    severe = 0.5

    def _compared(self, gold: Collection[str], ranks: Mapping[str, int]) -> float:
        return sum(node in ranks for node in gold) / len(gold)


class SeedPrecision(SeedMeasure):
    """Distinct nodes that the question was linked to and that are gold seeds / distinct nodes that it was linked to.

    Gold seeds are those of SeedRecall. If the question was linked to nothing, it is not scored.
    """

    source = "precision of entity linking"
    query_parameters = MappingProxyType(_parameters("precision"))
    aliases = ("linking_precision",)

    def _compared(self, gold: Collection[str], ranks: Mapping[str, int]) -> float | Unscored:
        return sum(node in ranks for node in gold) / len(ranks) if ranks else Unscored(NOTHING_LINKED)


class SeedReciprocalRank(SeedMeasure):
    """1 / rank of the first node that the question was linked to and that is a gold seed, 0 if none is.

    Gold seeds are those of SeedRecall. A repeated node keeps its first rank, and the ranks behind it count it.
    """

    source = "reciprocal rank of the candidates of entity linking; the mean is their MRR"
    query_parameters = MappingProxyType(_parameters("reciprocal rank"))
    aliases = ("seed_rr", "seed_mrr")
    target = 0.6
    severe = 0.3

    def _compared(self, gold: Collection[str], ranks: Mapping[str, int]) -> float:
        return max((1 / ranks[node] for node in gold if node in ranks), default=0.0)
