"""Graders of the walk without a gold path: ``edge_relevance`` and ``trajectory``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from graphkit.measures.unscored import NO_ORDER, NO_TRAVERSAL, NOTHING_TRAVERSED
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.plugins.judging.judges.forms import VerdictForm, Words, each_once
from graphkit.plugins.judging.judges.materials import Materials, ShownHop
from graphkit.plugins.judging.judges.prompts import HOPS, WALK
from graphkit.plugins.judging.judges.walks import Leg, Surroundings, pair_of, route_of
from graphkit.plugins.judging.verdicts import RelevanceFall
from graphkit.records.words import counted, shortened

NO_GRAPH = "the dataset has no knowledge graph (edges.jsonl) for the question"
NO_NEIGHBOUR = "no traversed edge left a node with another neighbour in the knowledge graph"


def _no_walk(materials: Materials) -> str | None:
    """Return why there is no walk to judge; None if there is one."""
    if materials.case is None or not materials.case.walk_logged:
        return NO_TRAVERSAL
    return None if materials.edges else NOTHING_TRAVERSED


# edge_relevance: the traversed edge among those that weren't ---------------------------------------------------------


class HopVerdict(VerdictForm):
    """The edges that lead nearest to an answer from one node: several if they are equal."""

    hop: Words
    reason: Words
    nearest: list[Words]


class EdgeRelevanceVerdict(VerdictForm):
    """Each hop once."""

    hops: list[HopVerdict]


def _hops_unasked(materials: Materials) -> Reading | None:
    reason = _no_walk(materials)
    if reason is None and not materials.hops:
        reason = NO_NEIGHBOUR
    if reason is None and not materials.shown_hops:
        reason = _unshown(materials)
    return None if reason is None else Reading([Finding("EdgeRelevance", None, reason)])


def _unshown(materials: Materials) -> str:
    hidden = len(materials.hops) - len(materials.shown_hops)
    return f"the judge wasn't shown {hidden} of {counted(len(materials.hops), 'hop')}"


def _read_hops(verdict: EdgeRelevanceVerdict, materials: Materials) -> Reading:
    by_key = {hop.key: hop for hop in materials.shown_hops}
    each_once([one.hop for one in verdict.hops], list(by_key), "hop")
    said = {one.hop: one for one in verdict.hops}
    for key, hop in by_key.items():
        _check_nearest(said[key], hop)
    worth = {key: _worth(said[key].nearest, hop) for key, hop in by_key.items()}
    lost = [hop for key, hop in by_key.items() if worth[key] == 0]
    content = [
        {
            "path": hop.leg.path,
            "hop": hop.leg.position,
            "walked": hop.text,
            "nearest": [hop.by_key[one].text for one in said[key].nearest],
            "shown": f"{len(hop.choices) - 1} of {counted(hop.others, 'other neighbour')}",
            "reason": said[key].reason,
        }
        for key, hop in by_key.items()
    ]
    traversed = len({leg.edge for path in materials.legs for leg in path})
    explanation = f"another edge leads nearer at {len(lost)} of {counted(len(by_key), 'hop')}"
    if alone := traversed - len(materials.hops):
        explanation += f" ({counted(alone, 'more edge')} left nodes without another neighbour)"
    fall = None
    if lost:
        first = lost[0]
        better = first.by_key[said[first.key].nearest[0]].text
        explanation += f", first at {_hop_in_words(first.leg, materials)}, {first.text}: {better} does"
        source, relation, target = first.leg.edge
        fall = RelevanceFall(
            path=first.leg.path, hop=first.leg.position, source=source, relation=relation, target=target, better=better
        )
    finding = Finding("EdgeRelevance", math.fsum(worth.values()) / len(worth), explanation=explanation)
    if len(by_key) < len(materials.hops):
        finding = Finding("EdgeRelevance", None, _unshown(materials), explanation=explanation)
    return Reading([finding], content={"hops": content}, fall=fall)


def _check_nearest(one: HopVerdict, hop: ShownHop) -> None:
    if unknown := sorted({*one.nearest} - hop.by_key.keys()):
        raise UnusableVerdictError(f"{hop.key} has no {shortened(', '.join(unknown))}")
    if not one.nearest:
        raise UnusableVerdictError(f"{hop.key}: nearest is empty: name all edges if none leads nearer than another")


def _worth(nearest: Sequence[str], hop: ShownHop) -> float:
    if hop.walked not in nearest:
        return 0.0
    return 1.0 if {*nearest} == {hop.walked} else 0.5


def _hop_in_words(leg: Leg, materials: Materials) -> str:
    return f"hop {leg.position}" + (f" of path {leg.path}" if len(materials.legs) > 1 else "")


EDGE_RELEVANCE = Grader(
    "edge_relevance",
    EdgeRelevanceVerdict,
    ("question", HOPS),
    ("EdgeRelevance",),
    _read_hops,
    lacks=lambda materials: None if materials.surroundings is not None else NO_GRAPH,
    unasked=_hops_unasked,
    graph=True,
)


# trajectory: the walk as a whole, and its length ---------------------------------------------------------------------

#: What may be wrong with a walk.
Fault = Literal["wrong_start", "wrong_turn", "detour", "stopped_early", "no_progress"]


class TrajectoryVerdict(VerdictForm):
    """Whether the walk is a sensible way to an answer; else what is wrong, and at which edge."""

    reasoning: Words
    sensible: bool
    fault: Fault | None
    at: str | None


def _trajectory_unasked(materials: Materials) -> Reading | None:
    reason = _no_walk(materials)
    return None if reason is None else Reading([Finding("TrajectoryAccuracy", None, reason)])


def _read_trajectory(verdict: TrajectoryVerdict, materials: Materials) -> Reading:
    legs = dict(zip((key for path in materials.walk for key, _ in path), _all(materials.legs), strict=True))
    if verdict.at is not None and verdict.at not in legs:
        raise UnusableVerdictError(f"there is no {shortened(verdict.at)} in the walk")
    if verdict.sensible != (verdict.fault is None):
        raise UnusableVerdictError("a sensible walk has no fault, and any other has one")
    at = None if verdict.at is None else legs[verdict.at]
    where = "" if at is None else f"{_hop_in_words(at, materials)}: "
    content = {
        "sensible": verdict.sensible,
        "fault": verdict.fault,
        "path": None if at is None else at.path,
        "hop": None if at is None else at.position,
        "edge": None if at is None else list(at.edge),
        "reasoning": verdict.reasoning,
    }
    finding = Finding(
        "TrajectoryAccuracy", float(verdict.sensible), label=verdict.fault, explanation=f"{where}{verdict.reasoning}"
    )
    return Reading([finding], content=content)


def _all(paths: Sequence[Sequence[Leg]]) -> list[Leg]:
    return [leg for path in paths for leg in path]


def _efficiency(materials: Materials) -> list[Finding]:
    """Return the shortest length of the walk over its length, or why it can't be compared."""
    around, case = materials.surroundings, materials.case
    reason = _no_walk(materials) or (NO_GRAPH if around is None else None)
    if reason is None and case is not None and not case.ordered:
        reason = NO_ORDER
    reason = reason or next((why for path in materials.legs if (why := _uncompared(path, around))), None)
    if reason is not None or case is None or around is None:
        return [Finding("PathEfficiency", None, reason)]
    walked = shortest = 0
    detours = []
    for path in materials.legs:
        start, end, along = route_of(case, path)
        least = 0 if start == end else around.shortest.get((start, end, along), len(path))
        walked, shortest = walked + len(path), shortest + min(least, len(path))
        if least < len(path):
            detours.append(f"from {start} to {end} in {counted(len(path), 'edge')} rather than {least}")
    explanation = "; ".join(detours) or "no path is longer than the shortest one in the knowledge graph"
    return [Finding("PathEfficiency", shortest / walked, explanation=explanation)]


def _uncompared(path: Sequence[Leg], around: Surroundings | None) -> str | None:
    """Return why a path has no shortest one to compare with; None if it has."""
    if jump := next((leg for leg in path if not leg.joined), None):
        return (
            f"path {jump.path} isn't one walk: its edge {jump.position} doesn't leave from where the one before led to"
        )
    lacking = {pair_of(leg) for leg in path if around is not None and pair_of(leg) in around.unheld}
    return f"the knowledge graph lacks {counted(len(lacking), 'edge')} of path {path[0].path}" if lacking else None


TRAJECTORY = Grader(
    "trajectory",
    TrajectoryVerdict,
    ("question", WALK),
    ("TrajectoryAccuracy", "PathEfficiency"),
    _read_trajectory,
    unasked=_trajectory_unasked,
    computed=lambda materials: Reading(_efficiency(materials)),
    graph=True,
)
