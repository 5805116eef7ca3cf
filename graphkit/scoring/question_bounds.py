"""Bounds on each question: which values lie beyond one, by the rules that gates on means have."""

from __future__ import annotations

from graphkit.measures.registry import lower_is_better
from graphkit.records.bounds import over, under
from graphkit.scoring.results import Evaluation


def broken(result: Evaluation, measure: str, bound: float) -> dict[str, str]:
    """Return the questions whose value lies beyond a bound, the worst first, each with its value in words.

    The bound is a lower one, or an upper one where lower values of the measure are better. A question counts as in the
    checked mean of the measure: a failed, missing or unlogged one as the worst value, unless ``failed_as`` says
    otherwise. What that mean leaves out is beyond no bound.
    """
    beyond, sign = (over, -1) if lower_is_better(measure) else (under, 1)
    place = [*result.measures].index(measure)
    reasons = {row.question: value for row in result.rows if isinstance(value := row.values[place], str)}
    found = sorted(
        (sign * value, question) for question, value in result.held_values(measure).items() if beyond(value, bound)
    )
    return {
        question: _in_words(sign * value, beyond.__name__, bound, reasons.get(question)) for value, question in found
    }


def _in_words(value: float, beyond: str, bound: float, reason: str | None) -> str:
    shown = f"{value:.4f}" if (under if beyond == "under" else over)(float(f"{value:.4f}"), bound) else f"{value:.12g}"
    counts = shown if reason is None else f"{value:g} ({reason})"
    return f"{counts}, {beyond} {bound:.12g}"
