"""Counts of the edges that were compared without their relation or direction, and their effect on gates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphkit.measures.registry import compares_relations
from graphkit.records.words import counted

#: Why a gate on a measure that compares relations fails.
NEVER_LOGGED = "never logged relations; `--untyped` compares without them"


@dataclass(frozen=True, slots=True)
class RelationCounts:
    """The traversed edges that were compared with gold whose edges name relations.

    Attributes
    ----------
    edges
        The number of distinct edges over the answered questions with such gold that isn't stale.
    without
        How many of them have no relation. A measure compares these by their ends alone.
    directionless
        The number of distinct edges whose log has lost their direction, which then is gold's.
    """

    edges: int = 0
    without: int = 0
    directionless: int = 0

    @classmethod
    def total(cls, counts: Iterable[RelationCounts]) -> RelationCounts:
        """Return the sums of several counts."""
        every = [*counts]
        return cls(
            sum(one.edges for one in every),
            sum(one.without for one in every),
            sum(one.directionless for one in every),
        )

    @property
    def never(self) -> bool:
        """Whether the run never logs relations: it is compared untyped throughout."""
        return bool(self.edges) and self.without == self.edges

    @property
    def partly(self) -> bool:
        """Whether the run logs some relations: at a gate, an edge without one then matches nothing."""
        return 0 < self.without < self.edges

    @property
    def sentence(self) -> str:
        """The number of edges compared without their relation, in words; an empty text if all had one."""
        if not self.without:
            return ""
        compared = f"{self.without} of {counted(self.edges, 'edge')} compared without their relation"
        if self.never:
            return f"{compared}: the run never logged relations, so that nothing shows that they are right"
        return f"{compared}; at gates these match nothing (`--untyped` compares all of them so)"

    @property
    def sentences(self) -> list[str]:
        """What was compared without a relation, and without a direction; empty if nothing was."""
        if not self.directionless:
            return [self.sentence] if self.without else []
        direction = f"{counted(self.directionless, 'edge')} logged without a direction: compared in that which gold has"
        return [*([self.sentence] if self.without else []), direction]

    def refused(self, measure: str) -> str:
        """Return why a gate on a measure fails whatever its value; an empty text if it doesn't."""
        return NEVER_LOGGED if self.never and compares_relations(measure) else ""

    def as_json(self) -> dict[str, Any]:
        """Return the counts by name."""
        found = {"edges": self.edges, "without_relation": self.without}
        return found | ({"without_direction": self.directionless} if self.directionless else {})
