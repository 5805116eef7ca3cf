"""The scales of a measure's values, and which of the values are right.

One scale holds for all values of a measure that are shown together, over all files, runs and groups: 0 and 1 in one
group are grades out of 10 if another group has a 7.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from graphkit.measures.registry import bounds_of, lower_is_better, measure_class

#: The lowest right score on a scale of 0 to 10.
RIGHT = 7

#: Scales of whole grades.
BINARY, LIKERT, TENS = range(2), range(1, 6), range(11)


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale from 0 to ``top``; values from ``bound`` on are right, counted from the top if lower is better."""

    top: int
    bound: int
    lower: bool

    def is_right(self, value: float) -> bool:
        """Return whether a value is right.

        >>> Scale(10, 7, lower=False).is_right(7), Scale(1, 1, lower=True).is_right(1)
        (True, False)
        """
        return (self.top - value if self.lower else value) >= self.bound


def scale_of(measure: str, values: Collection[float]) -> Scale | None:
    """Return the scale that says which values of a measure are right; None if there is none.

    There is none for values that aren't whole grades, for a measure without a highest value, and for any scale other
    than 0 and 1 or 0 to 10: on a scale of 1 to 5, nothing says which grades are right.

    >>> scale_of("score", [0, 1, 1]), scale_of("score", [0, 1, 10])
    (Scale(top=1, bound=1, lower=False), Scale(top=10, bound=7, lower=False))
    >>> scale_of("score", [0.5, 1]), scale_of("score", []), scale_of("score", [1, 5]), scale_of("StepsToGold", [1, 9])
    (None, None, None, None)
    """
    grades = grades_of(measure, values)
    return None if grades is None else right_on(measure, grades)


def right_on(measure: str, grades: range) -> Scale | None:
    """Return which grades of a scale are right; None if that is unknown."""
    bounds = {BINARY: 1, TENS: RIGHT}
    return Scale(grades[-1], bounds[grades], lower_is_better(measure)) if grades in bounds else None


def grades_of(measure: str, values: Collection[float]) -> range | None:
    """Return the whole grades that a measure may give, whether they occur or not; None if it gives other values.

    A known measure declares its scale. For an unknown one the values decide: 0 and 1 if none is higher, 1 to 5 if all
    lie on that scale, and 0 to 10 otherwise.

    >>> grades_of("ScaleGrade", [0, 1]), grades_of("score", [2, 4]), grades_of("score", [0, 4])
    (range(0, 11), range(1, 6), range(0, 11))
    """
    if not values or any(value != int(value) or not 0 <= value <= TENS[-1] for value in values):
        return None
    if measure_class(measure) is not None:
        lowest, highest = bounds_of(measure)
        if lowest is None or highest is None:
            return None  # it counts something
        if lowest <= min(values) and max(values) <= highest:
            whole = highest == int(highest) <= TENS[-1]
            return range(math.ceil(lowest), int(highest) + 1) if whole else None
    if max(values) <= 1:
        return BINARY
    return LIKERT if all(value in LIKERT for value in values) else TENS


def largest_difference(measure: str, scale: Scale | None) -> float | None:
    """Return how far two values of a measure can lie apart; None if unbounded."""
    lowest, highest = bounds_of(measure)
    if lowest is not None and highest is not None:
        return highest - lowest
    return None if scale is None else float(scale.top)
