"""Where runs break: the required edges of each boundary and relation, and how many of them each run walked.

All runs are counted over one set of required edges, so that a row has one number of required edges for every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from graphkit.measures.case import Case
from graphkit.measures.matching import contained
from graphkit.records.ids import crosses, repo_of
from graphkit.records.words import counted

Kind = Literal["boundary", "relation"]

#: How the alternatives are chosen, in words.
ONE_GOLD = (
    "Every run is counted over the same required edges. Of alternative gold paths, the one that the runs together "
    "walked most of counts."
)

NO_RELATION = "(no relation)"


class GoldEdge(NamedTuple):
    """What is counted of a required edge: the repositories of its ends if they differ, and its relation."""

    boundary: tuple[str, str] | None
    relation: str | None

    def rows(self) -> list[tuple[Kind, str]]:
        """Return the rows that count the edge: its kind of row, and the name."""
        found: list[tuple[Kind, str]] = [("relation", self.relation or NO_RELATION)]
        return found if self.boundary is None else [("boundary", " → ".join(self.boundary)), *found]


@dataclass(frozen=True, slots=True)
class RequiredEdges:
    """The edges that a question may require, each once, and what has to be found of them.

    ``units`` holds the alternatives of each part of gold as numbers of edges, in the order of ``Case.units``; a part
    without alternatives is its own only one.
    """

    edges: tuple[GoldEdge, ...]
    units: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A boundary or a relation.

    Attributes
    ----------
    required
        The number of required edges, the same for every run. An edge counts once for each question that requires it.
    walked, unknown
        For each run, how many of them it walked, and of how many this isn't known, since the traversal isn't logged.
    """

    kind: Kind
    name: str
    required: int
    walked: tuple[int, ...]
    unknown: tuple[int, ...]

    def share(self, run: int) -> float | None:
        """Return the share of the known edges that a run walked; None if nothing is known."""
        known = self.required - self.unknown[run]
        return self.walked[run] / known if known else None

    @property
    def never(self) -> bool:
        """Whether some traversal is logged, and none holds such an edge."""
        return not any(self.walked) and any(self.required > unknown for unknown in self.unknown)

    def sort_key(self) -> tuple[float, int, str]:
        """Return the key that sorts the worst row first: the share over all runs, then the number of edges."""
        known = sum(self.required - unknown for unknown in self.unknown)
        return sum(self.walked) / known if known else 2.0, -self.required, self.name


@dataclass(frozen=True, slots=True)
class BrokenEdges:
    """The boundaries and the relations of gold, each the worst first.

    Attributes
    ----------
    needs
        For each question, the numbers of the rows (boundaries first) that count an edge of it.
    missed
        For each run and question, the numbers of those rows of which the run missed an edge.
    """

    boundaries: tuple[BrokenRow, ...]
    relations: tuple[BrokenRow, ...]
    needs: tuple[tuple[int, ...], ...]
    missed: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def rows(self) -> tuple[BrokenRow, ...]:
        """All rows, as they are numbered."""
        return *self.boundaries, *self.relations


def required_edges(case: Case) -> RequiredEdges:
    """Return the edges that gold may require of a question, whatever a run did."""
    numbers = {edge: 0 for unit in case.units for path in unit for edge in path.required}
    numbers = {edge: number for number, edge in enumerate(numbers)}
    edges = [
        GoldEdge((repo_of(edge[0]) or "", repo_of(edge[2]) or "") if crosses(edge[0], edge[2]) else None, edge[1])
        for edge in numbers
    ]
    units = tuple(
        tuple(tuple(numbers[edge] for edge in dict.fromkeys(path.required)) for path in unit if path.required)
        for unit in case.units
    )
    return RequiredEdges(tuple(edges), tuple(unit for unit in units if unit))


def walked_edges(case: Case) -> tuple[int, ...] | None:
    """Return the numbers of the required edges that a run walked; None if its traversal isn't logged.

    A failed question and one without a record walked nothing.
    """
    if case.failure is not None:
        return ()
    if not case.walk_logged:
        return None
    edges = list({edge: None for unit in case.units for path in unit for edge in path.required})
    found = contained(edges, case.walked, case.untyped)
    return tuple(number for number, edge in enumerate(edges) if edge in found)


def shared_gold(gold: RequiredEdges, walks: Sequence[tuple[int, ...] | None]) -> list[int]:
    """Return the edges that count for every run: of each part's alternatives, the one that the runs walked most of.

    That is the largest sum of the runs' shares of it; ties go to the first.
    """
    known = [frozenset(walk) for walk in walks if walk is not None]

    def together(path: tuple[int, ...]) -> float:
        return sum(len(walk.intersection(path)) / len(path) for walk in known)

    return sorted({edge for unit in gold.units for edge in max(unit, key=together)})


def broken_edges(
    questions: Sequence[RequiredEdges | None], runs: Sequence[Sequence[tuple[int, ...] | None]]
) -> BrokenEdges:
    """Count the required and the walked edges of each boundary and relation.

    Parameters
    ----------
    questions
        The gold of each question; None for one that isn't scored.
    runs
        For each run, what :func:`walked_edges` returns of each question.
    """
    counts: dict[tuple[Kind, str], list[list[int]]] = {}  # required, then walked and unknown of each run
    needs: list[dict[tuple[Kind, str], None]] = []
    missed: list[list[dict[tuple[Kind, str], None]]] = [[] for _ in runs]
    for place, gold in enumerate(questions):
        walks = [run[place] for run in runs]
        needs.append({})
        for lost in missed:
            lost.append({})
        for edge in shared_gold(gold, walks) if gold is not None else ():
            assert gold is not None
            for row in gold.edges[edge].rows():
                required, walked, unknown = counts.setdefault(row, [[0], [0] * len(runs), [0] * len(runs)])
                required[0] += 1
                needs[-1][row] = None
                for number, walk in enumerate(walks):
                    walked[number] += walk is not None and edge in walk
                    unknown[number] += walk is None
                    if walk is not None and edge not in walk:
                        missed[number][-1][row] = None
    rows = [
        BrokenRow(kind, name, required[0], tuple(walked), tuple(unknown))
        for (kind, name), (required, walked, unknown) in counts.items()
    ]
    boundaries, relations = (
        tuple(sorted((row for row in rows if row.kind == kind), key=BrokenRow.sort_key))
        for kind in ("boundary", "relation")
    )
    numbers = {(row.kind, row.name): number for number, row in enumerate((*boundaries, *relations))}
    return BrokenEdges(
        boundaries,
        relations,
        tuple(_numbered(some, numbers) for some in needs),
        tuple(tuple(_numbered(some, numbers) for some in lost) for lost in missed),
    )


def _numbered(rows: Mapping[tuple[Kind, str], None], numbers: Mapping[tuple[Kind, str], int]) -> tuple[int, ...]:
    return tuple(sorted(numbers[row] for row in rows))


def weakest(broken: BrokenEdges, named: int = 3) -> str:
    """Return a sentence on the boundaries and relations that no run walked; empty if each was walked.

    ``named`` is how many boundaries it names.
    """
    parts = []
    never = [row.name.replace(" → ", "→") for row in broken.boundaries if row.never]
    if never:
        some = ", ".join(never[:named]) + (", …" if len(never) > named else "")
        verb = "is" if len(never) == 1 else "are"
        every = counted(len(broken.boundaries), "boundary", "boundaries")
        parts.append(f"{len(never)} of {every} {verb} never crossed ({some}).")
    relations = [row.name for row in broken.relations if row.never]
    if relations:
        some = ", ".join(relations[: 2 * named]) + (", …" if len(relations) > 2 * named else "")
        parts.append(f"{'No run walks' if len(broken.missed) > 1 else 'The run never walks'} {some}.")
    return " ".join(parts)
