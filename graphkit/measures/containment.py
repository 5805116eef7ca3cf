"""Chunks that are cut otherwise than the gold: relevant ids found in ids that hold them, or that they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator

from graphkit.measures.case import Case
from graphkit.measures.unscored import NO_LINES, Unscored
from graphkit.records.extents import Extent, Granularity, may_share, split_lines
from graphkit.records.structs import ChunkStruct


def by_containment(of: Case) -> Case:
    """Return a case with relevant ids found at the first rank of an id that holds them, or that they hold."""
    if (case := of.derived.get("containment")) is not None:
        return case
    case = of.derived["containment"] = Case(of.question, of.answer, of.commits)
    case.read_ranking()
    left = {node: gain for node, gain in of.question.relevant.items() if gain > 0}
    there: dict[str, list[tuple[str, Extent]]] = {}
    for node, extent in relevant_extents(of).items():
        there.setdefault(extent.file, []).append((node, extent))
    case.hits, case.found = [], []
    for name, rank in case.ranks.items():
        own = extent_of(of, of.chunks[rank - 1])
        lies = {node: own.against(other) for node, other in there.get(own.file, ()) if node in left}
        if name in left:
            lies[name] = "overlapping"
        if "unknown" in lies.values():
            case.unranked = case.unranked or Unscored(NO_LINES)
        new = [left.pop(node) for node, how in lies.items() if how is not None]
        if new:
            case.hits += [(rank, gain) for gain in sorted(new)]
            case.found.append((rank, math.fsum(new)))
    case.ideal = sorted([gain for _, gain in case.found] + [*left.values()], reverse=True)
    return case


def otherwise_cut(case: Case) -> Iterator[tuple[Granularity, str]]:
    """Yield how each retrieved id that shares its place with a relevant one lies to it, and the former."""
    chunks = case.chunks
    if not chunks or not (chunks[0].path or may_share(case.question.relevant, case.ranks)):
        return  # as in most questions, at no cost
    files = tuple(split_lines(node.partition("#")[0])[0] for node in case.question.relevant)
    relevant = relevant_extents(case).values()
    for name, rank in case.ranks.items():
        if chunks[rank - 1].path or name.startswith(files):
            own = extent_of(case, chunks[rank - 1])
            yield from [(how, name) for other in relevant if (how := own.against(other))][:1]


def relevant_extents(case: Case) -> dict[str, Extent]:
    """Return the extent of each relevant id."""
    relevant = case.question.relevant.items()
    return {node: Extent.of(node, case.places, case.question.stack) for node, gain in relevant if gain > 0}


def extent_of(case: Case, chunk: ChunkStruct) -> Extent:
    """Return what a retrieved chunk covers."""
    return Extent.of(chunk.id, case.places, case.question.stack, chunk)
