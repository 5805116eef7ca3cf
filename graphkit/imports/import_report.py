"""What is told of an import: what was taken, what is known, what was lost, and what it usually means."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graphkit.files.known_ids import LogCoverage
from graphkit.records.directions import PlacedEdge
from graphkit.records.words import counted, shortened

#: How many fields, notes and examples a line names.
SHOWN = 12


@dataclass(slots=True)
class ImportReport(LogCoverage):
    """What an import came upon, counted.

    Attributes
    ----------
    left_out
        What couldn't be recorded, with its count and an example.
    how, several
        How the ids of names were found, and the names that could be several files.
    """

    readers: list[str] = field(default_factory=list)
    answers: int = 0
    failed: int = 0
    walks: int = 0
    rankings: int = 0
    with_calls: int = 0
    unordered: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    how: dict[str, int] = field(default_factory=dict)
    several: dict[str, tuple[str, str]] = field(default_factory=dict)
    turned: int = 0
    related: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    lacks: dict[str, None] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def edge(self, placed: PlacedEdge) -> None:
        """Count an edge."""
        self.count_edge(placed.source, placed.relation, placed.target, placed.held)
        self.turned += placed.turned
        self.related += placed.related

    def leave_out(self, what: str, example: str) -> None:
        """Count something that can't be recorded."""
        self.left_out[what] += 1
        self.example.setdefault(what, example)

    def lines(self) -> list[str]:
        """Return what is told, a line each."""
        lines = [*self.readers]
        of = counted(self.answers, "answer")
        details = [f"{self.rankings} with what was retrieved", f"{self.walks} with edges"]
        details += [f"{self.with_calls} with calls of tools"] * bool(self.with_calls)
        details += [f"{self.failed} failed"] * bool(self.failed)
        lines.append(f"{of}: {', '.join(details)}")
        if self.taken:
            lines.append(f"taken: {_listed(self.taken)}")
        lines += [
            f"left out: {what}: {count}, such as {shortened(self.example[what])}"
            for what, count in self.left_out.items()
        ]
        lines += self._id_lines()
        lines += self._edge_lines()
        if self.unordered:
            lines.append(
                f"{counted(self.unordered, 'walk')} without an order: edges are compared as sets, "
                "and measures of a path's order aren't scored"
            )
        if len(self.runs) > 1:
            lines.append(
                f"it holds several runs, of which each question's first answer was taken: {_listed(self.runs)}"
            )
        if self.models:
            lines.append(f"answered by {_listed(self.models)}: say it to --answered-by where answers are judged")
        if self.unread:
            lines.append(f"fields that weren't used: {_listed(self.unread)}")
        lines += [f"the format can't tell: {sentence}" for sentence in self.lacks]
        lines += [f"doubtful in {counted(count, 'answer')}: {note}" for note, count in self.notes.items()]
        return lines + self.meant()

    def _id_lines(self) -> list[str]:
        lines = [self.id_line()] * bool(self.ids)
        if self.ids and (ways := {how: count for how, count in self.how.items() if how != "as they are"}):
            lines.append(f"ids of names: {_listed(Counter(ways))}")
        if self.several:
            name, (one, other) = next(iter(self.several.items()))
            lines.append(
                f"{counted(len(self.several), 'name')} could be several files, so none was taken, such as "
                f"{shortened(name)} ({shortened(one)}, {shortened(other)}): a table of --ids says which is meant"
            )
        return lines

    def _edge_lines(self) -> list[str]:
        lines = [self.edge_line()] * bool(self.held)
        if self.turned:
            lines.append(f"direction given back to {counted(self.turned, 'edge')} from the knowledge graph")
        if self.related:
            lines.append(f"relation given to {counted(self.related, 'edge')}: the only one in the knowledge graph")
        return lines

    def meant(self) -> list[str]:
        """Return what it usually means that hardly anything is known, where that is so."""
        meaning = self.meaning(self.known.all)
        return [str(meaning)] if meaning is not None else []


def _listed(counts: Counter[str]) -> str:
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(SHOWN))
    more = len(counts) - SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def as_json(told: ImportReport) -> dict[str, Any]:
    """Return what is told for programs."""
    return {
        "answers": told.answers,
        "failed": told.failed,
        "taken": dict(told.taken),
        "ids": told.known_ids(),
        "edges": told.known_edges(),
        "several": {name: list(ends) for name, ends in told.several.items()},
        "turned": told.turned,
        "related": told.related,
        "unordered": told.unordered,
        "left_out": dict(told.left_out),
        "unread": dict(told.unread),
        "lacks": list(told.lacks),
        "notes": dict(told.notes),
        "models": dict(told.models),
        "runs": dict(told.runs),
        "meaning": told.meant(),
    }
