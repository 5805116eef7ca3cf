"""Gates on percentiles, such as ``Latency_p95``: the value that so many percent of the questions don't exceed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from graphkit.analysis.gate_outcomes import NAMED, GateOutcome
from graphkit.analysis.gates import left_out, nothing_scored, summary_of
from graphkit.measures.registry import lower_is_better, worst_of
from graphkit.records.bounds import over, under
from graphkit.records.option_values import PercentileName
from graphkit.records.unanswered import counted_value
from graphkit.records.words import counted
from graphkit.scoring.results import Evaluation


def nearest_rank(values: Iterable[float], percent: Fraction) -> float:
    """Return the smallest of some values such that at least so many percent of them aren't higher.

    >>> nearest_rank([15, 20, 35, 40, 50], Fraction(40)), nearest_rank([15, 20, 35, 40, 50], Fraction(41))
    (20, 35)
    """
    ordered = sorted(values)
    return ordered[math.ceil(percent * len(ordered) / 100) - 1]


def percentile_gates(
    bounds: Iterable[tuple[str, PercentileName, float]], runs: Mapping[str, Sequence[Evaluation]]
) -> list[GateOutcome]:
    """Check percentiles against lower bounds (``fail-under``) or upper ones; a measure without any value fails.

    A failed, missing or unlogged question counts as the worst value: as an infinite one where the measure has none.
    ``bounds`` begin with the gate. ``runs`` are the results by run; of a repeated system, those of all its repetitions,
    whose answers count singly.
    """
    every = [*bounds]
    return [_held(gate, run, some, name, bound) for run, some in runs.items() for gate, name, bound in every]


def _held(gate: str, run: str, results: Sequence[Evaluation], name: PercentileName, bound: float) -> GateOutcome:
    measure, percent = name.measure, float(name.percent)
    refused = next((f"{name}: {why}" for one in results if (why := one.refused(measure))), None)
    values = [] if refused else [*_values(results, measure)]
    reached = [value for value, _, answered in values if answered]
    if not reached:
        what = refused or nothing_scored(results[0], measure, summary_of(results[0], measure))
        return GateOutcome(gate, run, False, what, measure, bound, percentile=percent)
    beyond, sign, side = (under, 1, "below") if gate == "fail-under" else (over, -1, "above")
    # Failing must not help either if the bound lies on the other side of the worst value.
    both = [nearest_rank(some, name.percent) for some in ([value for value, _, _ in values], reached)]
    value = next((one for one in both if beyond(one, bound)), both[0])
    passed, far = not beyond(value, bound), sorted((sign * one, name) for one, name, _ in values if beyond(one, value))
    counts = counted(len(values), "value")
    if worst := len(values) - len(reached):
        counts += f" ({worst} failed, missing or not logged as {_shown(worst_of(measure))})"
    digits = _shown(value) if passed or beyond(round(value, 4), bound) else f"{value:.12g}"
    text = f"{name} of {counts} is {digits}" + ("" if passed else f", {beyond.__name__} {bound:.12g}")
    if far:
        text += f"; {side} it: " + ", ".join(f"{question} {_shown(sign * one)}" for one, question in far[:NAMED])
        text += f" and {len(far) - NAMED} more" if len(far) > NAMED else ""
    n, names = len(values), tuple(question for _, question in far)
    left = sum(one.questions for one in results) - n
    shown = value if math.isfinite(value) else None
    what = text + left_out(results[0], measure)
    return GateOutcome(gate, run, passed, what, measure, bound, shown, None, n, left, percent, names)


def _values(results: Sequence[Evaluation], measure: str) -> Iterator[tuple[float, str, bool]]:
    """Yield each value with its question (and run, of several), and whether the question has one of its own."""
    worst, infinite = worst_of(measure), math.inf if lower_is_better(measure) else -math.inf
    for result in (one for one in results if measure in one.measures):
        place, strict = [*result.measures].index(measure), result.strict_values(measure)
        for row in result.rows:
            own = strict.get(row.question, row.values[place])
            value = counted_value(own, infinite if worst is None else worst, result.failed_as)
            if value is not None:
                name = row.question if len(results) == 1 else f"{row.question} ({result.run})"
                yield value, name, not isinstance(own, str)


def _shown(value: float | None) -> str:
    return f"{value:.4f}" if value is not None and math.isfinite(value) else "infinite"
