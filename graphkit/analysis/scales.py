"""Which of a measure's values are right: on what scale they are, and in which direction better is.

Decided once for all values of a measure that are shown together, of every file, run and group: scores of one group that
happen to be 0 and 1 are still scores of 10 where another has a 7.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graphkit.measures.registry import lower_is_better

#: A score of 0 to 10 counts as right from here on.
RIGHT = 7


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale from 0 to ``top``; values from ``bound`` on are right, counted from the top where lower is better."""

    top: int
    bound: int
    lower: bool

    def is_right(self, value: float) -> bool:
        """Tell whether a value is right.

        >>> Scale(10, 7, lower=False).is_right(7), Scale(1, 1, lower=True).is_right(1)
        (True, False)
        """
        return (self.top - value if self.lower else value) >= self.bound


def scale_of(measure: str, values: Collection[float]) -> Scale | None:
    """Return the scale of all values of a measure: of 0 and 1, of whole ones up to 10, or None of any others.

    >>> scale_of("score", [0, 1, 1]), scale_of("score", [0, 1, 10])
    (Scale(top=1, bound=1, lower=False), Scale(top=10, bound=7, lower=False))
    >>> scale_of("score", [0.5, 1]), scale_of("score", [])
    (None, None)
    """
    if not values or any(value != int(value) or not 0 <= value <= 10 for value in values):
        return None
    lower = lower_is_better(measure)
    return Scale(1, 1, lower) if max(values) <= 1 else Scale(10, RIGHT, lower)
