"""Counts of the edges that were compared without relation, direction or commit, and their effect on gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.measures.registry import compares_relations
from graphkit.records.words import counted

#: Why a gate on a measure that compares relations fails.
NEVER_LOGGED = "never logged relations; `--untyped` compares without them"

#: The names of the counts in JSON.
_NAMES = ("edges", "without_relation", "without_direction", "without_commit")


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
    unversioned
        The number of distinct edges that name no commit, in questions whose gold paths have commits of their own. They
        match on any side.
    """

    edges: int = 0
    without: int = 0
    directionless: int = 0
    unversioned: int = 0

    @classmethod
    def total(cls, counts: Iterable[RelationCounts]) -> RelationCounts:
        """Return the sums of several counts."""
        every = [*counts]
        return cls(
            sum(one.edges for one in every),
            sum(one.without for one in every),
            sum(one.directionless for one in every),
            sum(one.unversioned for one in every),
        )

    @classmethod
    def of_json(cls, counts: Mapping[str, int]) -> RelationCounts:
        """Return counts from :meth:`as_json`."""
        return cls(*(counts.get(name, 0) for name in _NAMES))

    @property
    def never(self) -> bool:
        """Whether the run never logs relations: it is compared untyped throughout."""
        return bool(self.edges) and self.without == self.edges

    @property
    def partly(self) -> bool:
        """Whether the run logs some relations: at a gate, an edge without one then matches nothing."""
        return 0 < self.without < self.edges

    @property
    def stricter(self) -> bool:
        """Whether some edges that count in a mean match nothing at a gate."""
        return self.partly or self.unversioned > 0

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
        """Sentences on the edges compared without a relation, a direction or a commit; empty if there are none."""
        found = [self.sentence] if self.without else []
        if self.directionless:
            lost = counted(self.directionless, "edge")
            found.append(f"{lost} logged without a direction: compared in that which gold has")
        if self.unversioned:
            bare = counted(self.unversioned, "edge")
            found.append(
                f"{bare} of questions about several versions compared without a commit; at gates these match nothing"
            )
        return found

    def refused(self, measure: str) -> str:
        """Return why a gate on a measure fails whatever its value; an empty text if it doesn't."""
        return NEVER_LOGGED if self.never and compares_relations(measure) else ""

    def as_json(self) -> dict[str, Any]:
        """Return the counts by name."""
        counts = dict(zip(_NAMES, (self.edges, self.without, self.directionless, self.unversioned), strict=True))
        return {name: count for name, count in counts.items() if count or name in _NAMES[:2]}
