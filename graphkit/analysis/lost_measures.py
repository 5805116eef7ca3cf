"""A measure that a comparison lost: the first run was scored by it, and the second never."""

from __future__ import annotations

from typing import NamedTuple

from graphkit.records.unanswered import NOT_LOGGED
from graphkit.records.words import counted


class LostMeasure(NamedTuple):
    """A measure by which the first run was scored and the second never: nothing shows that it isn't worse.

    Attributes
    ----------
    scored
        The number of questions that the first run was scored on.
    reason
        Why the second run was scored on none, where that is known.
    untyped
        Whether the second run was scored, but without the relations that only the first run logged.
    """

    measure: str
    scored: int
    reason: str | None = None
    untyped: bool = False

    def in_words(self, first: str, second: str) -> str:
        """Return which run was scored by it, and why the other wasn't.

        >>> LostMeasure("PathExact", 12, "its order isn't known").in_words("main", "mine")
        "PathExact is lost: main was scored on 12 questions, mine on none (its order isn't known)"
        """
        if self.untyped:
            what = f"{second} never logged relations, and {first} did; `--untyped` compares both without them"
            return f"{self.measure} is lost: {what}"
        why = "" if self.reason is None else f" ({self.reason.removesuffix(NOT_LOGGED)})"
        return (
            f"{self.measure} is lost: {first} was scored on {counted(self.scored, 'question')}, {second} on none{why}"
        )
