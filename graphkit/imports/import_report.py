"""Reports of an import: counts of what was read, matched and skipped, as lines of text and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graphkit.files.known_ids import LogCoverage
from graphkit.records.aliases import mapping_of
from graphkit.records.directions import PlacedEdge
from graphkit.records.words import counted, shortened

#: The largest number of fields or names in one line.
SHOWN = 12


def listed(counts: Counter[str]) -> str:
    """Return counted names on one line, the most frequent first."""
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(SHOWN))
    more = len(counts) - SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


@dataclass(slots=True)
class Skipped:
    """The inputs that no record can hold: their number by reason, with the first example of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, example: str) -> None:
        """Count an input."""
        self.counts[reason] += 1
        self.examples.setdefault(reason, example)

    def reasons(self) -> list[str]:
        """Return each reason with its count and its example."""
        return [
            f"{reason}: {count}, such as {shortened(self.examples[reason])}" for reason, count in self.counts.items()
        ]


@dataclass(slots=True)
class ImportReport(LogCoverage):
    """The counts of an imported log.

    Attributes
    ----------
    readers
        One line per file: its format, and how it was chosen.
    found_nothing
        The number of answers whose search was made, and answered with nothing.
    traversals, rankings, with_calls, unordered
        The number of answers with edges, with retrieved ids, with tool calls, and with edges in no order.
    fields
        The fields that answers were read from.
    how, several
        The number of ids by how they were found, and the names that fit several files.
    trials
        The number of runs: several if questions have several trials.
    turned, related, directionless
        The number of edges whose direction, or relation, comes from the knowledge graph.
    """

    readers: list[str] = field(default_factory=list)
    answers: int = 0
    failed: int = 0
    found_nothing: int = 0
    traversals: int = 0
    rankings: int = 0
    with_calls: int = 0
    unordered: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    how: dict[str, int] = field(default_factory=dict)
    several: dict[str, tuple[str, str]] = field(default_factory=dict)
    turned: int = 0
    directionless: int = 0
    related: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    lacks: dict[str, None] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    trials: int = 1

    def edge(self, placed: PlacedEdge) -> None:
        """Count an edge."""
        self.count_edge(placed.source, placed.relation, placed.target, placed.held)
        self.turned += placed.turned
        self.related += placed.related
        self.directionless += not placed.directed

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        details = [f"{self.rankings} with retrieved ids", f"{self.traversals} with edges"]
        details += [f"{self.found_nothing} of {self.answers} found nothing"] * bool(self.found_nothing)
        details += [f"{self.with_calls} with tool calls"] * bool(self.with_calls)
        details += [f"{self.failed} failed"] * bool(self.failed)
        lines = [*self.readers, f"{counted(self.answers, 'answer')}: {', '.join(details)}"]
        if self.trials > 1:
            lines.append(
                f"questions have up to {self.trials} trials: each is a repetition of the run, NAME@1 and so on"
            )
        if self.fields:
            lines.append(f"fields: {listed(self.fields)}")
        lines += [f"skipped: {reason}" for reason in self.skipped.reasons()]
        lines += [*self._id_lines(), *self._edge_lines()]
        if len(self.runs) > 1:
            lines.append(f"the log holds several runs; the first answer to each question was used: {listed(self.runs)}")
        if self.models:
            lines.append(f"answered by {listed(self.models)}: pass it to --answered-by when you judge the answers")
        if self.unread:
            lines.append(f"unused fields: {listed(self.unread)}")
            if mappings := [found for name in self.unread if (found := mapping_of(name)) is not None]:
                lines.append(f"fields that could be read by hand: {', '.join(mappings[:SHOWN])}")
        lines += [f"the format doesn't contain: {sentence}" for sentence in self.lacks]
        lines += [f"doubtful in {counted(count, 'answer')}: {note}" for note, count in self.notes.items()]
        return lines + self.warnings()

    def _id_lines(self) -> list[str]:
        lines = [self.id_line()] * bool(self.ids)
        if self.ids and (ways := {how: count for how, count in self.how.items() if how != "as they are"}):
            lines.append(f"ids of names: {listed(Counter(ways))}")
        if self.several:
            name, (one, other) = next(iter(self.several.items()))
            lines.append(
                f"{counted(len(self.several), 'name')} could be several files, so none was chosen, such as "
                f"{shortened(name)} ({shortened(one)}, {shortened(other)}): name the right ones in a table, --ids"
            )
        return lines

    def _edge_lines(self) -> list[str]:
        lines = [self.edge_line()] * bool(self.held)
        if self.directionless:
            lines.append(
                f"{counted(self.directionless, 'edge')} without a direction: compared in the one in which gold has them"
            )
        if self.turned:
            lines.append(f"{counted(self.turned, 'edge')} got the direction of the knowledge graph")
        if self.related:
            lines.append(f"{counted(self.related, 'edge')} got the only relation in the knowledge graph")
        if self.unordered:
            lines.append(
                f"{counted(self.unordered, 'traversal')} without an order: edges are compared as sets, "
                "and measures of a path's order aren't scored"
            )
        return lines

    def warnings(self) -> list[str]:
        """Return the likely cause if hardly any id or edge is known."""
        meaning = self.meaning(self.known.all)
        return [str(meaning)] if meaning is not None else []

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs."""
        return {
            "answers": self.answers,
            "failed": self.failed,
            "found_nothing": self.found_nothing,
            "taken": dict(self.fields),
            "ids": self.known_ids(),
            "edges": self.known_edges(),
            "several": {name: list(ends) for name, ends in self.several.items()},
            "turned": self.turned,
            "directionless": self.directionless,
            "related": self.related,
            "unordered": self.unordered,
            "left_out": dict(self.skipped.counts),
            "unread": dict(self.unread),
            "lacks": list(self.lacks),
            "notes": dict(self.notes),
            "models": dict(self.models),
            "runs": dict(self.runs),
            "meaning": self.warnings(),
        }
