"""Measures of edges: the gold edges that a traversal contains, and the traversed edges that are gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from graphkit.measures.base import Measure
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge, as_compared, best_alternative, best_alternatives, contained
from graphkit.measures.sided_case import sided
from graphkit.measures.unscored import NO_GOLD, NO_RETRIEVAL, NO_TRAVERSAL, NOTHING_TRAVERSED, Unscored

NO_PATH = "no gold path"
NO_BOUNDARY = "gold crosses no repository boundary"
NO_BOUNDARY_TRAVERSED = "no traversed edge crosses a repository boundary"


@dataclass(frozen=True)
class EdgeMeasure(Measure):
    """Base of the measures of edges.

    ``relation=False`` compares only the two ends of an edge; ``directed=False`` ignores its direction.
    """

    relation: bool = True
    directed: bool = True

    source = "edge comparison of the gold and the traversed subgraph"

    #: Whether only edges between repositories count.
    boundary: ClassVar[bool] = False

    @property
    def compares_relations(self) -> bool:
        return self.relation

    def _counted_paths(self, case: Case) -> Mapping[str, list[str]]:
        """Return the names of the gold paths whose edges the measure requires: of alternatives, the one that counts."""
        if not case.walk_logged:
            return {}
        case = sided(case)
        items, matched = _compared(case, self.relation, self.boundary, getattr(self, "static", False), self.directed)
        if len(case.gold) == 1:  # as in most questions
            return {"paths": [case.path_name(case.gold[0])] if items(case.gold[0]) else []}
        found = (best_alternative(unit, items, matched)[0] for unit in case.units)
        return {"paths": [case.path_name(path) for path in found if path is not None]}


def _required(gold: Gold, static: bool) -> set[Edge]:
    """Return the edges that a path requires; with ``static``, those that a static graph must hold."""
    if not static:
        return gold.needed
    marks = zip(gold.edges, gold.optional, gold.manual, strict=True)
    return {edge for edge, optional, manual in marks if not optional and not manual}


def edge_recall(
    case: Case, relation: bool, boundary: bool, static: bool = False, directed: bool = True
) -> tuple[int, int]:
    """Return (found, required): the required gold edges, each once, and how many of them the traversal contains."""
    case = sided(case)
    if relation and directed and not static and case.plain:
        if boundary:
            return len(case.common_boundary), len(case.gold_boundary)
        return len(case.common), len(case.gold_edges)
    required, found = best_alternatives(case.units, *_compared(case, relation, boundary, static, directed))
    return len(found), len(required)


def _compared(
    case: Case, relation: bool, boundary: bool, static: bool, directed: bool
) -> tuple[Callable[[Gold], set[Edge]], Callable[[set[Edge]], set[Edge]]]:
    """Return what finds the edges that a gold path requires, and what finds those of some edges that were walked."""

    def items(gold: Gold) -> set[Edge]:
        edges = _required(gold, static)
        if boundary:
            edges = edges & case.gold_boundary
        return edges if relation and directed else as_compared(edges, relation, directed)

    if relation and directed and not case.untyped:
        return items, case.walked.intersection
    walked = case.walked if relation and directed else as_compared(case.walked, relation, directed)
    return items, lambda wanted: contained(wanted, walked, relation)


def _share_of_files(case: Case, static: bool) -> float | Unscored:
    """Return the share of the required gold edges with the files of both ends among the evidence files."""
    case = sided(case)
    places = case.places

    def items(gold: Gold) -> set[Edge]:
        return {edge for edge in _required(gold, static) if places.path(edge[0]) and places.path(edge[2])}

    def matched(wanted: set[Edge]) -> set[Edge]:
        return {edge for edge in wanted if {places.file(edge[0]), places.file(edge[2])} <= case.files}

    required, found = best_alternatives(case.units, items, matched)
    if not required:
        return Unscored(NO_GOLD, of_question=True)
    return len(found) / len(required) if case.evidence_logged else Unscored(NO_RETRIEVAL)


def edge_precision(case: Case, relation: bool, boundary: bool, directed: bool = True) -> tuple[int, int, bool]:
    """Return the numbers of distinct traversed edges in gold and in all, and whether gold has an edge."""
    case = sided(case)
    walked = case.walked_boundary if boundary else case.walked
    if case.twice:
        walked = set(walked).difference(case.twice)
    gold = case.gold_boundary if boundary else case.gold_edges
    if relation and directed and not case.untyped:
        return len(case.common_boundary if boundary else case.common), len(walked), bool(gold)
    if not (relation and directed):
        walked, gold = as_compared(walked, relation, directed), as_compared(gold, relation, directed)
    return len(contained(walked, gold, relation)), len(walked), bool(gold)


def _share(found: int, required: int, case: Case, none_required: str) -> float | Unscored:
    if not required:
        return Unscored(none_required, of_question=True)
    return found / required if case.walk_logged else Unscored(NO_TRAVERSAL)


def _precision(case: Case, measure: EdgeMeasure, boundary: bool, no_gold: str, untraversed: str) -> float | Unscored:
    right, traversed, gold = edge_precision(case, measure.relation, boundary, measure.directed)
    if not gold:
        return Unscored(no_gold, of_question=True)
    if not case.walk_logged:
        return Unscored(NO_TRAVERSAL)
    return right / traversed if traversed else Unscored(untraversed)


@dataclass(frozen=True)
class EdgeRecall(EdgeMeasure):
    """Required gold edges that the traversal contains / required gold edges, each edge once.

    Edges count over the union of the retrieved paths. ``static`` ignores gold steps that no static graph must hold:
    those whose ``evidence`` is not ``"static"``, such as ``"manual"`` or ``"trace"``.

    With ``files=True`` an edge counts if the files of both ends are among the evidence files of FileRecall,
    whatever was traversed. Use it for agents that open whole files while gold names symbols. Gold edges with an end
    outside any file are ignored.
    """

    static: bool = False
    files: bool = False

    query = "edge_recall"
    query_parameters = {"boundary": False, "unscored": NO_GOLD, "unlogged": NO_TRAVERSAL}
    target = 0.8
    severe = 0.5
    aliases = ("traversal_accuracy",)

    def __post_init__(self) -> None:
        if self.files:
            object.__setattr__(self, "query", None)

    @property
    def compares_relations(self) -> bool:
        return self.relation and not self.files

    def details(self, case: Case) -> Mapping[str, list[str]]:
        return {} if self.files else self._counted_paths(case)

    def value(self, case: Case) -> float | Unscored:
        if self.files:
            return _share_of_files(case, self.static)
        found, required = edge_recall(case, self.relation, boundary=False, static=self.static, directed=self.directed)
        return _share(found, required, case, NO_GOLD)


class EdgePrecision(EdgeMeasure):
    """Distinct traversed edges that are in any gold path / distinct traversed edges.

    Optional steps are in the gold path. If nothing was traversed, it is not scored.
    """

    query = "edge_precision"
    query_parameters = {
        "boundary": False,
        "unscored": NO_PATH,
        "untraversed": NOTHING_TRAVERSED,
        "unlogged": NO_TRAVERSAL,
    }

    def value(self, case: Case) -> float | Unscored:
        return _precision(case, self, False, NO_PATH, NOTHING_TRAVERSED)


class EdgeF1(EdgeMeasure):
    """Harmonic mean of EdgeRecall and EdgePrecision."""

    query = "edge_f1"
    query_parameters = {"unscored": NO_GOLD, "unlogged": NO_TRAVERSAL}

    def value(self, case: Case) -> float | Unscored:
        found, required = edge_recall(case, self.relation, boundary=False, directed=self.directed)
        if not required:
            return Unscored(NO_GOLD, of_question=True)
        if not case.walk_logged:
            return Unscored(NO_TRAVERSAL)
        right, traversed, _ = edge_precision(case, self.relation, boundary=False, directed=self.directed)
        if not traversed or not found or not right:
            return 0.0
        # 2rp / (r + p) of r = found / required and p = right / traversed, divided once: equal ratios are equal floats.
        return 2 * found * right / (found * traversed + right * required)


class BoundaryRecall(EdgeMeasure):
    """EdgeRecall over edges whose ends lie in different repositories."""

    boundary = True
    query = "edge_recall"
    query_parameters = {"boundary": True, "static": False, "unscored": NO_BOUNDARY, "unlogged": NO_TRAVERSAL}

    def details(self, case: Case) -> Mapping[str, list[str]]:
        return self._counted_paths(case)

    def value(self, case: Case) -> float | Unscored:
        found, required = edge_recall(case, self.relation, self.boundary, directed=self.directed)
        return _share(found, required, case, NO_BOUNDARY)


class BoundaryPrecision(EdgeMeasure):
    """EdgePrecision over edges whose ends lie in different repositories."""

    query = "edge_precision"
    query_parameters = {
        "boundary": True,
        "unscored": NO_BOUNDARY,
        "untraversed": NO_BOUNDARY_TRAVERSED,
        "unlogged": NO_TRAVERSAL,
    }

    def value(self, case: Case) -> float | Unscored:
        return _precision(case, self, True, NO_BOUNDARY, NO_BOUNDARY_TRAVERSED)
