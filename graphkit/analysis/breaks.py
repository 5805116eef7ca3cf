"""Where the traversal of a run broke off each gold path that counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from graphkit.analysis.explain import TurnKind, turn_kind
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, Otherwise, walked_otherwise
from graphkit.measures.missed import counted_paths
from graphkit.measures.paths import Divergence, divergence_at, first_divergences
from graphkit.measures.sided_case import sided


@dataclass(frozen=True, slots=True)
class Break:
    """The first required step that a run lacks of a path that counts.

    Attributes
    ----------
    path, step
        Places from 0.
    node
        The start of the step.
    kind
        What the walk did there.
    reached
        Whether the walk came to ``node``.
    turn
        The edge outside gold by which the walk left there, if the first divergence is at this step.
    joined
        The place of the first step of the path that it walked, if that is a later one.
    ordered
        Whether path and traversal have an order; without one an edge is missed, and nothing breaks.
    """

    path: int
    step: int
    node: str
    kind: TurnKind | Otherwise
    reached: bool
    turn: Edge | None
    joined: int | None
    ordered: bool

    @property
    def entered(self) -> bool:
        """Whether the walk came to any node of the path."""
        return self.kind != "never"

    def undirected(self) -> Break:
        """Return the break without what needs directions: where the walk turned, stopped or arrived."""
        if self.kind not in ("turned", "stopped", "other route"):
            return self
        return replace(self, kind="missed" if self.joined is None else "joined", turn=None)


@lru_cache(1)  # the causes and the marks of a question ask one after the other
def breaks_of(case: Case) -> tuple[Break, ...]:
    """Return where the paths that count broke, in the order of the gold paths; nothing without a traversal."""
    if not case.walk_logged:
        return ()
    case = sided(case)
    lost = [(case.gold.index(path.gold), missed[0]) for path in counted_paths(case, False) if (missed := path.missed)]
    if not lost:
        return ()
    known = {(one.number, one.position): one for one in first_divergences(case)}
    return tuple(_break(case, place, *first, known.get((place, first[0]))) for place, first in sorted(lost))


def _break(case: Case, place: int, step: int, edge: Edge, known: Divergence | None) -> Break:
    """Return the break at a step; ``known`` is the first divergence if that is at the same step."""
    gold, turn = case.gold[place], known.turn if known is not None else None
    if known is None or not known.ordered:  # then it tells no turn
        known = divergence_at(gold, case, step - sum(gold.optional[:step]), (), turn)
    how, _ = walked_otherwise(edge, case.off)
    return Break(
        path=place,
        step=step,
        node=edge[0],
        kind=how if how is not None else turn_kind(known.row()),
        reached=edge[0] in case.reached,
        turn=turn,
        joined=known.joined if known.joined is not None and known.joined > step else None,
        ordered=known.ordered,
    )
