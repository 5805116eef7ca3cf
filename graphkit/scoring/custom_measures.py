"""Checks of measures that a user defines: what they raise, and what they return."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Sequence

from graphkit.errors import MeasureError
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.records.bounds import over, under


def blame(case: Case, measures: Sequence[Measure]) -> MeasureError | None:
    """Return an error that names the measure, line and question if one of the user's measures raises; else None.

    It computes the measures again one by one, so that scoring keeps no trace of them while all goes well.
    """
    for measure in measures:
        try:
            measure.score(case)
        except Exception as again:
            frames = traceback.extract_tb(again.__traceback__)
            home = getattr(sys.modules.get(type(measure).__module__), "__file__", None)
            frame = next((frame for frame in reversed(frames) if frame.filename == home), frames[-1])
            raised = f"{type(again).__name__}: {again}" if str(again) else type(again).__name__
            return MeasureError(
                f"{measure} raised {raised}",
                where=f"{frame.filename}:{frame.lineno}: question {case.question.id}",
                remedy="Correct the measure; where it has no value, it returns graphkit.Unscored(reason).",
            )
    return None


def checked_values(
    measure: Measure, names: Sequence[str], values: Sequence[list[float | Unscored]], index: int
) -> None:
    """Replace the values of a user's measure by floats.

    Raises
    ------
    MeasureError
        A value is no finite number, or outside the bounds of the measure.
    """
    lowest, highest = measure.lowest, measure.highest
    for name, row in zip(names, values, strict=True):
        value = row[index]
        if isinstance(value, Unscored):
            continue
        number = _number(value)
        if number is None:
            wrong, remedy = "no finite number", "It returns a number, or graphkit.Unscored(reason)."
        elif (lowest is not None and under(number, lowest)) or (highest is not None and over(number, highest)):
            wrong = f"not within its bounds, {lowest} to {highest}"
            remedy = "Set `lowest` and `highest` of the class, None where there is no bound."
        else:
            row[index] = number
            continue
        raise MeasureError(f"{measure} returned {value!r}, {wrong}", where=f"question {name}", remedy=remedy)


def _number(value: object) -> float | None:
    """Return a value as a float, also one of numpy's; None if it is no finite number."""
    try:
        number = float(value) if not isinstance(value, str | bytes) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
