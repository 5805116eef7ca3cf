"""Where runs break: the required edges of each boundary and relation, and how many of them each run walked.

Each run is counted by the alternatives that its own scores count: relations as EdgeRecall does, boundaries as
BoundaryRecall does. The page, ``failures`` and the named queries count so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, contained
from graphkit.measures.missed import counted_paths
from graphkit.records.ids import Places
from graphkit.records.words import counted

Kind = Literal["boundary", "relation"]

#: What a row counts: its kind, and the relation or the two repositories.
RowKey = tuple[Kind, tuple[str, ...]]

#: How the edges are counted, in words.
COUNTED = (
    "Each run is counted over its answered questions with a logged traversal. Of alternative gold paths, the one that "
    "its own EdgeRecall (for boundaries, its BoundaryRecall) counts is required of it."
)

NO_RELATION = "(no relation)"


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
        A count for each boundary and relation.
    beyond
        The rows of walked gold edges that aren't among the required ones: optional steps, and steps of alternatives
        that don't count.
    left_out
        Why the question isn't counted: ``"failed"`` (without a record, too) or ``"unlogged"``; empty if it is counted.
    """

    counts: tuple[EdgeCount, ...]
    beyond: tuple[RowKey, ...] = ()
    left_out: Literal["", "failed", "unlogged"] = ""


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A boundary or a relation.

    Attributes
    ----------
    names
        The relation, or the repositories of the boundary.
    required, walked
        For each run, the number of required edges of the questions that are counted, and how many it walked. An edge
        counts once for each question that requires it.
    failed, unlogged
        For each run, the number of required edges of the questions that aren't counted, since the run failed on them,
        or since their traversal isn't logged.
    beyond
        Whether some run walked such an edge of gold that wasn't required of it.
    """

    kind: Kind
    names: tuple[str, ...]
    required: tuple[int, ...]
    walked: tuple[int, ...]
    failed: tuple[int, ...]
    unlogged: tuple[int, ...]
    beyond: bool = False

    @property
    def name(self) -> str:
        """The relation, or the boundary in words."""
        return " → ".join(self.names)

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

    def sort_key(self) -> tuple[float, int, str]:
        """Return the key that sorts the worst row first: the share over all runs, then the number of edges."""
        required = sum(self.required)
        return sum(self.walked) / required if required else 2.0, -required, self.name


@dataclass(frozen=True, slots=True)
class BrokenEdges:
    """The boundaries and the relations of gold, each the worst first.

    Attributes
    ----------
    needs
        For each run and question, the numbers of the rows (boundaries first) that hold a required edge of it.
    missed
        For each run and question, the numbers of those rows of which the run missed an edge.
    """

    boundaries: tuple[BrokenRow, ...]
    relations: tuple[BrokenRow, ...]
    needs: tuple[tuple[tuple[int, ...], ...], ...]
    missed: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def rows(self) -> tuple[BrokenRow, ...]:
        """All rows, as they are numbered."""
        return *self.boundaries, *self.relations


def question_edges(case: Case) -> QuestionEdges:
    """Count the required edges of a question, each once, by boundary and relation."""
    required: dict[RowKey, set[Edge]] = {}
    walked: set[Edge] = set()
    for boundaries in (True, False):
        for path in counted_paths(case, boundaries):
            walked |= path.walked
            for edge in path.required:
                required.setdefault(_boundary(edge, case.places) if boundaries else _relation(edge), set()).add(edge)
    counts = tuple(
        EdgeCount(kind, names, len(edges), len(edges & walked)) for (kind, names), edges in sorted(required.items())
    )
    if case.failure is not None:
        return QuestionEdges(counts, left_out="failed")
    if not case.walk_logged:
        return QuestionEdges(counts, left_out="unlogged")
    found: set[RowKey] = set()
    for edge in contained(case.gold_edges, case.walked, case.untyped):
        found |= {_relation(edge)} | (
            {_boundary(edge, case.places)} if case.places.crosses(edge[0], edge[2]) else set()
        )
    return QuestionEdges(counts, tuple(sorted(found - {(one.kind, one.names) for one in counts if one.walked})))


def _boundary(edge: Edge, places: Places) -> RowKey:
    return "boundary", (places.repo(edge[0]) or "", places.repo(edge[2]) or "")


def _relation(edge: Edge) -> RowKey:
    return "relation", (edge[1] or NO_RELATION,)


#: What is added up in a row for each run.
_SUMS = ("required", "walked", "failed", "unlogged")


def broken_edges(runs: Sequence[Sequence[QuestionEdges | None]]) -> BrokenEdges:
    """Add up the required and the walked edges of each boundary and relation.

    Parameters
    ----------
    runs
        For each run, what :func:`question_edges` returns of each question; None for a question with stale gold. Each
        run has the same questions.
    """
    sums: dict[RowKey, dict[str, list[int]]] = {}
    beyond: set[RowKey] = set()
    for number, run in enumerate(runs):
        for one in run:
            if one is None:
                continue
            beyond.update(one.beyond)
            for count in one.counts:
                row = sums.setdefault((count.kind, count.names), {what: [0] * len(runs) for what in _SUMS})
                row[one.left_out or "required"][number] += count.required
                row["walked"][number] += 0 if one.left_out else count.walked
    rows = []
    for key, row in sums.items():
        required, walked, failed, unlogged = (tuple(row[what]) for what in _SUMS)
        rows.append(BrokenRow(*key, required, walked, failed, unlogged, beyond=key in beyond))
    boundaries, relations = (
        tuple(sorted((row for row in rows if row.kind == kind), key=BrokenRow.sort_key))
        for kind in ("boundary", "relation")
    )
    numbers = {(row.kind, row.names): number for number, row in enumerate((*boundaries, *relations))}

    def numbered(one: QuestionEdges | None, missed: bool) -> tuple[int, ...]:
        if one is None or (missed and one.left_out):
            return ()
        some = (count for count in one.counts if not missed or count.walked < count.required)
        return tuple(sorted(numbers[count.kind, count.names] for count in some))

    needs, missed = (tuple(tuple(numbered(one, lost) for one in run) for run in runs) for lost in (False, True))
    return BrokenEdges(boundaries, relations, needs, missed)


def missed_counts(questions: Iterable[QuestionEdges], kind: Kind) -> list[dict[str, Any]]:
    """Return the rows of the query ``relations-missed`` or ``boundaries-missed``: what a run misses most comes first.

    ``questions`` are those of one run.
    """
    rows: dict[tuple[str, ...], list[int]] = {}
    for one in questions:
        for count in one.counts if not one.left_out else ():
            if count.kind == kind:
                row = rows.setdefault(count.names, [0, 0, 0])
                row[0] += count.required - count.walked
                row[1] += count.required
                row[2] += count.walked < count.required
    columns = ("relation",) if kind == "relation" else ("from_repo", "to_repo")
    return [
        {
            **dict(zip(columns, names, strict=True)),
            "missed": missed,
            "required": required,
            "share": math.floor(100 * missed / required + 0.5) / 100,
            "questions": some,
        }
        for names, (missed, required, some) in sorted(rows.items(), key=lambda row: (-row[1][0], row[0]))
        if missed
    ]


def weakest(broken: BrokenEdges, named: int = 3) -> str:
    """Return sentences on the boundaries and relations of which no required edge was walked; empty if there are none.

    ``named`` is how many boundaries it names.
    """
    parts = []
    boundaries = [row for row in broken.boundaries if row.never]
    if boundaries:
        names = ["→".join(row.names) for row in boundaries]
        some = ", ".join(names[:named]) + (", …" if len(names) > named else "")
        every = counted(len(broken.boundaries), "boundary", "boundaries")
        parts.append(f"No required edge was walked across {len(names)} of {every} ({some}){_logged(boundaries)}.")
    relations = [row for row in broken.relations if row.never]
    if relations:
        names = ["untyped" if row.names == (NO_RELATION,) else row.name for row in relations]
        shown, more = names[: 2 * named], len(names) - 2 * named
        some = " or ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
        rest = f", nor one of {counted(more, 'other relation')}" if more > 0 else ""
        parts.append(f"No required {some} edge was walked{rest}{_logged(relations)}.")
    return " ".join(parts)


def _logged(rows: Iterable[BrokenRow]) -> str:
    """Return what limits a sentence on edges that weren't walked: traversals that aren't logged may hold them."""
    return ", as far as traversals are logged" if any(any(row.unlogged) for row in rows) else ""
