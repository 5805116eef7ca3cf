"""The report of an imported graph: counts of what was read, named and skipped, as lines of text and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graphkit.imports.import_report import Skipped, listed
from graphkit.records.words import counted


@dataclass(slots=True)
class GraphReport:
    """The counts of an imported graph.

    Attributes
    ----------
    sources
        One line per file or database.
    how, named
        The number of artifacts by the property that named them, and of names by how their id was found.
    gold
        The number of gold edges by how the graph holds them.
    gold_ids
        The number of ids in the gold, and of those that the graph has.
    warning
        The likely cause if the graph has hardly any id of the gold.
    """

    sources: list[str] = field(default_factory=list)
    artifacts: int = 0
    edges: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    how: Counter[str] = field(default_factory=Counter)
    named: dict[str, int] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    notes: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    gold_ids: tuple[int, int] = (0, 0)
    warning: str | None = None

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        ways = Counter({how: count for how, count in self.named.items() if how != "as they are"})
        named = (
            (counted(self.artifacts, "artifact"), self.kinds),
            (counted(self.edges, "edge"), self.relations),
            ("ids", self.how),
            ("ids of names", ways),
        )
        lines = [*self.sources]
        for title, counts in named:
            if counts:
                lines.append(f"{title}: {listed(counts)}")
            elif not title.startswith("ids"):
                lines.append(title)
        lines += [f"skipped: {reason}" for reason in self.skipped.reasons()]
        lines += [f"note: {note}: {count}" for note, count in self.notes.items()]
        if self.unread:
            lines.append(f"unused properties: {listed(self.unread)}")
        ids = f"{self.gold_ids[1]} of {counted(self.gold_ids[0], 'id')}"
        if total := self.gold.total():
            held = self.gold
            lines.append(
                f"gold: {held['forward']} of {counted(total, 'edge')} are in it, {held['reversed']} reversed, "
                f"{held['other']} by another relation, {held['unknown']} not; {ids}"
            )
        elif self.gold_ids[0]:
            lines.append(f"gold: {ids} are in it")
        return lines + self.warnings()

    def warnings(self) -> list[str]:
        """Return the warning as a list, which is empty if there is none."""
        return [self.warning] if self.warning else []

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs."""
        ways = ("forward", "reversed", "other", "unknown")
        return {
            "artifacts": self.artifacts,
            "edges": self.edges,
            "kinds": dict(self.kinds),
            "relations": dict(self.relations),
            "ids": dict(self.how),
            "names": dict(self.named),
            "left_out": dict(self.skipped.counts),
            "notes": dict(self.notes),
            "unread": dict(self.unread),
            "gold": {
                "edges": {"all": self.gold.total(), **{way: self.gold[way] for way in ways}},
                "ids": {"all": self.gold_ids[0], "known": self.gold_ids[1]},
            },
            "meaning": self.warnings(),
        }
