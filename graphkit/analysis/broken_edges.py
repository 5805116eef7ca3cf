"""Where runs break: the required edges by boundary, relation, single edge and node, and how many each run walked.

Each run is counted by the alternatives that its own scores count: boundaries as BoundaryRecall does, the others as
EdgeRecall does. The page, ``failures`` and the named queries count so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, contained
from graphkit.measures.missed import counted_paths
from graphkit.measures.seeds import LostEdge, lost_at_start, lost_by_boundary
from graphkit.measures.sided_case import sided
from graphkit.records.ids import Places
from graphkit.records.words import counted

Kind = Literal["boundary", "relation", "edge", "node"]

#: What a row counts: its kind, and the two repositories, the relation, the edge (an empty text for no relation) or the
#: node.
RowKey = tuple[Kind, tuple[str, ...]]

#: How the edges are counted, in words.
COUNTED = (
    "Each run is counted over its answered questions with a logged traversal. Of alternative gold paths, the one that "
    "its own EdgeRecall (for boundaries, its BoundaryRecall) counts is required of it."
)

NO_RELATION = "(no relation)"

#: Why edges were missed at the start of a path.
NOT_LINKED = "the question was not linked to the start of the path"


class EdgeCount(NamedTuple):
    """The required edges of one question that a row counts, and how many of them the run walked."""

    kind: Kind
    names: tuple[str, ...]
    required: int
    walked: int


@dataclass(frozen=True, slots=True)
class QuestionEdges:
    """The required edges of one question by boundary and relation, as one run is counted.

    Attributes
    ----------
    counts
        A count for each boundary and relation, and for each edge and node, which count once. A node is walked if it is
        an end of any traversed edge.
    absent
        The required edges that the knowledge graph of the question lacks, as far as its edges are given.
    beyond
        The rows of walked gold edges that aren't among the required ones: optional steps, and steps of alternatives
        that don't count.
    left_out
        Why the question isn't counted: ``"failed"`` (without a record, too) or ``"unlogged"``; empty if it is counted.
    unlinked
        The edges that were missed since the question wasn't linked to the start of the path.
    """

    counts: tuple[EdgeCount, ...]
    beyond: tuple[RowKey, ...] = ()
    left_out: Literal["", "failed", "unlogged"] = ""
    absent: tuple[RowKey, ...] = ()
    unlinked: tuple[LostEdge, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A boundary, a relation, an edge or a node.

    Attributes
    ----------
    names
        As in :data:`RowKey`.
    required, walked
        For each run, the number of required edges of the questions that are counted, and how many it walked. An edge
        counts once for each question that requires it.
    failed, unlogged
        For each run, the number of required edges of the questions that aren't counted, since the run failed on them,
        or since their traversal isn't logged.
    beyond
        Whether some run walked such an edge of gold that wasn't required of it.
    absent
        In how many of the counted questions the knowledge graph lacks the edge.
    unlinked
        In how many of them some run missed the boundary or the edge since it didn't link the question to the start of
        the path.
    """

    kind: Kind
    names: tuple[str, ...]
    required: tuple[int, ...]
    walked: tuple[int, ...]
    failed: tuple[int, ...]
    unlogged: tuple[int, ...]
    beyond: bool = False
    absent: int = 0
    unlinked: int = 0

    @property
    def name(self) -> str:
        """The relation or the node, the boundary or the edge in words."""
        return place_name(self.kind, self.names)

    @property
    def lost(self) -> int:
        """How many required edges all runs together missed."""
        return sum(self.required) - sum(self.walked)

    def share(self, run: int) -> float | None:
        """Return the share of the required edges that a run walked; None if none is counted."""
        return self.walked[run] / self.required[run] if self.required[run] else None

    @property
    def never(self) -> bool:
        """Whether an edge was required of some run, and no run walked such an edge of gold."""
        return any(self.required) and not any(self.walked) and not self.beyond

    def left_out(self, run: int) -> str:
        """Return how many required edges of a run aren't counted, and why; empty if all are."""
        parts = [f"{self.failed[run]} in failed questions"] if self.failed[run] else []
        parts += [f"{self.unlogged[run]} in questions without a logged traversal"] if self.unlogged[run] else []
        return f"not counted: {', '.join(parts)}" if parts else ""

    @property
    def start(self) -> str:
        """In how many questions it was missed for the start of a path, in words."""
        return f"in {counted(self.unlinked, 'counted question')} it was missed since {NOT_LINKED}"

    def sort_key(self) -> tuple[int, float, str]:
        """Return the key that sorts what loses most edges first; of equals, what walks the smallest share."""
        required = sum(self.required)
        return -self.lost, sum(self.walked) / required if required else 2.0, self.name


@dataclass(frozen=True, slots=True)
class BrokenEdges:
    """Where all runs together break; what loses most edges comes first.

    Attributes
    ----------
    boundaries, relations
        Those of gold.
    edges, nodes
        Those that some run missed, no more than were asked for; ``missed_edges`` and ``missed_nodes`` count all.
    needs
        For each run and question, the numbers of the rows (``rows``) that hold a required edge of it.
    missed
        For each run and question, the numbers of those rows of which the run missed an edge.
    unlinked
        For each question, the edges that some run missed since it didn't link it to the start of the path.
    """

    boundaries: tuple[BrokenRow, ...]
    relations: tuple[BrokenRow, ...]
    edges: tuple[BrokenRow, ...]
    nodes: tuple[BrokenRow, ...]
    missed_edges: int
    missed_nodes: int
    needs: tuple[tuple[tuple[int, ...], ...], ...]
    missed: tuple[tuple[tuple[int, ...], ...], ...]
    unlinked: tuple[tuple[LostEdge, ...], ...]

    @property
    def rows(self) -> tuple[BrokenRow, ...]:
        """All rows, as they are numbered."""
        return *self.boundaries, *self.relations, *self.edges, *self.nodes


def question_edges(case: Case) -> QuestionEdges:
    """Count the required edges of a question, each once, by boundary, relation, edge and node."""
    case = sided(case)
    across, paths = counted_paths(case, boundaries=True), counted_paths(case, boundaries=False)
    walked = {edge for path in (*across, *paths) for edge in path.walked}
    edges = {edge for path in paths for edge in path.required}
    keys = [(boundary_key(edge, case.places), edge in walked) for edge in {e for path in across for e in path.required}]
    keys += [(relation_key(edge), edge in walked) for edge in edges]
    required: dict[RowKey, list[bool]] = {}
    for key, there in keys:
        required.setdefault(key, []).append(there)
    single = sorted([(single_edge(edge), edge in walked) for edge in edges])
    nodes = sorted({node for source, _, target in edges for node in (source, target)})
    counts = (
        *[EdgeCount(*key, len(some), sum(some)) for key, some in sorted(required.items())],
        *[EdgeCount(*key, 1, int(there)) for key, there in single],
        *[EdgeCount("node", (node,), 1, int(node in case.reached)) for node in nodes],
    )
    absent = tuple(sorted(map(single_edge, edges & case.absent))) if case.absent else ()
    if case.failure is not None:
        return QuestionEdges(counts, left_out="failed", absent=absent)
    if not case.walk_logged:
        return QuestionEdges(counts, left_out="unlogged", absent=absent)
    gold = contained(case.gold_edges, case.walked, case.untyped)
    found = {relation_key(edge) for edge in gold}
    found |= {boundary_key(edge, case.places) for edge in case.places.boundary(gold)}
    beyond = tuple(sorted(found - {(one.kind, one.names) for one in counts if one.walked}))
    return QuestionEdges(counts, beyond, absent=absent, unlinked=lost_at_start(case))


def place_name(kind: Kind, names: tuple[str, ...]) -> str:
    """Return the relation or the node, the boundary or the edge in words.

    >>> place_name("boundary", ("web", "api")), place_name("edge", ("a", "CALLS", "b"))
    ('web → api', 'a -CALLS-> b')
    """
    return f"{names[0]} -{names[1]}-> {names[2]}" if kind == "edge" else " → ".join(names)


def boundary_key(edge: Edge, places: Places) -> RowKey:
    """Return the key of the boundary that an edge crosses."""
    return "boundary", (places.repo(edge[0]) or "", places.repo(edge[2]) or "")


def relation_key(edge: Edge) -> RowKey:
    """Return the key of the relation of an edge."""
    return "relation", (edge[1] or NO_RELATION,)


def single_edge(edge: Edge) -> RowKey:
    """Return the key of an edge."""
    return "edge", (edge[0], edge[1] or "", edge[2])


#: What is added up in a row for each run.
_SUMS = ("required", "walked", "failed", "unlogged")


def broken_edges(
    runs: Sequence[Sequence[QuestionEdges | None]], most: int | None = None, also: Collection[RowKey] = ()
) -> BrokenEdges:
    """Add up the required and the walked edges of each boundary, relation, edge and node.

    Parameters
    ----------
    runs
        For each run, what :func:`question_edges` returns of each question; None for a question with stale gold. Each
        run has the same questions.
    most
        The most single edges and nodes to list, of those that some run missed; all by default.
    also
        Edges to list in any case.
    """
    #: For each row and run the edges that are required, walked, and left out of failed and of unlogged questions.
    sums: dict[RowKey, list[list[int]]] = {}
    beyond: set[RowKey] = set()
    absent: dict[RowKey, set[int]] = {}
    unlinked: dict[RowKey, set[int]] = {}
    for number, run in enumerate(runs):
        for place, one in enumerate(run):
            if one is None:
                continue
            beyond.update(one.beyond)
            for key in one.absent if not one.left_out else ():
                absent.setdefault(key, set()).add(place)
            for lost in one.unlinked:
                for key in (single_edge(lost.edge), ("boundary", lost.boundary)):
                    unlinked.setdefault(key, set()).add(place)
            counted_as = _SUMS.index(one.left_out or "required")
            for kind, names, required, walked in one.counts:
                row = sums.get((kind, names))
                if row is None:
                    row = sums[kind, names] = [[0] * len(runs) for _ in _SUMS]
                row[counted_as][number] += required
                if not one.left_out:
                    row[1][number] += walked
    rows: dict[Kind, list[BrokenRow]] = {"boundary": [], "relation": [], "edge": [], "node": []}
    for key, row in sums.items():
        required_of, walked_of, failed, unlogged = map(tuple, row)
        lacking, far = len(absent.get(key, ())), len(unlinked.get(key, ()))
        found = BrokenRow(*key, required_of, walked_of, failed, unlogged, key in beyond, lacking, far)
        if found.lost or key[0] in ("boundary", "relation"):
            rows[key[0]].append(found)
    boundaries, relations, edges, nodes = (tuple(sorted(some, key=BrokenRow.sort_key)) for some in rows.values())
    shown = edges if most is None else (*edges[:most], *(row for row in edges[most:] if (row.kind, row.names) in also))
    listed = boundaries, relations, shown, nodes[:most]
    numbers = {(row.kind, row.names): number for number, row in enumerate(row for some in listed for row in some)}

    def numbered(one: QuestionEdges | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the numbers of the rows of a question, and of those of which it missed an edge."""
        needed = [(at, count) for count in one.counts if (at := numbers.get(count[:2])) is not None] if one else []
        lost = [at for at, count in needed if count.walked < count.required] if one and not one.left_out else []
        return tuple(sorted([at for at, _ in needed])), tuple(sorted(lost))

    found_in = [[numbered(one) for one in run] for run in runs]
    needs, missed = (tuple(tuple(one[which] for one in run) for run in found_in) for which in (0, 1))
    starts = tuple(tuple(lost for one in asked if one for lost in one.unlinked) for asked in zip(*runs, strict=True))
    return BrokenEdges(*listed, len(edges), len(nodes), needs, missed, starts)


#: The columns that name what a row of a kind counts.
_NAMES: Mapping[Kind, tuple[str, ...]] = {
    "boundary": ("from_repo", "to_repo"),
    "relation": ("relation",),
    "edge": ("source", "relation", "target"),
    "node": ("node",),
}


def missed_counts(questions: Iterable[QuestionEdges], kind: Kind) -> list[dict[str, Any]]:
    """Return the rows of the query ``boundaries-missed``, ``relations-missed``, ``edges-missed`` or ``nodes-missed``.

    What a run misses most comes first. ``questions`` are those of one run. A question misses an edge or a node once, so
    their rows don't count questions beside.
    """
    rows: dict[tuple[str, ...], list[int]] = {}
    for one in questions:
        for count in one.counts if not one.left_out else ():
            if count.kind == kind:
                row = rows.setdefault(count.names, [0, 0, 0])
                row[0] += count.required - count.walked
                row[1] += count.required
                row[2] += count.walked < count.required
    single = kind in ("edge", "node")
    return [
        {
            **dict(zip(_NAMES[kind], (name or None if single else name for name in names), strict=True)),
            "missed": missed,
            "required": required,
            "share": math.floor(100 * missed / required + 0.5) / 100,
            **({} if single else {"questions": some}),
        }
        for names, (missed, required, some) in sorted(rows.items(), key=lambda row: (-row[1][0], row[0]))
        if missed
    ]


def absent_counts(questions: Iterable[QuestionEdges]) -> list[dict[str, Any]]:
    """Return the rows of the query ``edges-absent``: missed edges that the knowledge graph of their questions lacks.

    What is missed most comes first. ``required`` counts the questions that require the edge and whose graph lacks it.
    """
    required: Counter[tuple[str, ...]] = Counter()
    missed: Counter[tuple[str, ...]] = Counter()
    for one in questions:
        if not one.left_out:
            lacking = {names for _, names in one.absent}
            required.update(lacking)
            missed.update(
                count.names
                for count in one.counts
                if count.kind == "edge" and not count.walked and count.names in lacking
            )
    return [
        {
            **dict(zip(_NAMES["edge"], (name or None for name in names), strict=True)),
            "missed": count,
            "required": required[names],
        }
        for names, count in sorted(missed.items(), key=lambda row: (-row[1], row[0]))
    ]


def weakest(broken: BrokenEdges, named: int = 3) -> str:
    """Return sentences on the boundaries and relations of which no required edge was walked; empty if there are none.

    One names the boundaries that were missed since the question was not linked to the start of the path. ``named`` is
    how many boundaries each names.
    """
    parts = []
    boundaries = [row for row in broken.boundaries if row.never]
    if boundaries:
        names = ["→".join(row.names) for row in boundaries]
        some = ", ".join(names[:named]) + (", …" if len(names) > named else "")
        every = counted(len(broken.boundaries), "boundary", "boundaries")
        parts.append(f"No required edge was walked across {len(names)} of {every} ({some}){_logged(boundaries)}.")
    if words := not_linked_in_words(broken.unlinked, named):
        parts.append(f"Missed since {NOT_LINKED}: {words}.")
    relations = [row for row in broken.relations if row.never]
    if relations:
        names = ["untyped" if row.names == (NO_RELATION,) else row.name for row in relations]
        shown, more = names[: 2 * named], len(names) - 2 * named
        some = " or ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
        rest = f", nor one of {counted(more, 'other relation')}" if more > 0 else ""
        parts.append(f"No required {some} edge was walked{rest}{_logged(relations)}.")
    return " ".join(parts)


def not_linked_in_words(questions: Iterable[Sequence[LostEdge]], named: int = 3) -> str:
    """Return the boundaries that questions miss for the start of a path, with their number; ``named`` are the most.

    >>> first = LostEdge(("web:a", None, "api:b"), True, ("web", "api"))
    >>> second = LostEdge(("api:b", None, "db:c"), False, ("api", "db"))
    >>> not_linked_in_words([[first, second], [first._replace(namesake=False)]])
    'web→api in 2 questions (1 linked to a namesake), api→db in 1 question'
    """
    parts = [
        f"{'→'.join(pair)} in {counted(count, 'question')}" + (f" ({some} linked to a namesake)" if some else "")
        for pair, (count, some) in lost_by_boundary(questions).items()
    ]
    return ", ".join(parts[:named]) + (", …" if len(parts) > named else "")


def _logged(rows: Iterable[BrokenRow]) -> str:
    """Return what limits a sentence on edges that weren't walked: traversals that aren't logged may hold them."""
    return ", as far as traversals are logged" if any(any(row.unlogged) for row in rows) else ""
