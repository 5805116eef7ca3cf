"""What answers take: time, model calls, tokens and money, of each record and of a run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Figures(NamedTuple):
    """What one record took, None where it isn't known; and the type of its error, None where it has none."""

    latency_ms: float | None
    model_calls: int | None
    prompt_tokens: int | None
    output_tokens: int | None
    cost: float | None
    failed: str | None = None


#: The figures that are summarised.
FIGURES = ("latency_ms", "model_calls", "prompt_tokens", "output_tokens", "cost")


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over the records of a run.

    Mean, median and 95th percentile (nearest rank) are of the ``known`` answered questions; ``total`` is of all
    records, for a question that failed took time and money too. What is known of no record is None, never 0.
    """

    mean: float | None
    median: float | None
    p95: float | None
    total: float | None
    known: int


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever currency."""

    prompt: float
    output: float

    def of(self, prompt_tokens: int, output_tokens: int) -> float:
        """Return what some tokens cost.

        >>> Prices(1.0, 5.0).of(2_000_000, 100_000)
        2.5
        """
        return (prompt_tokens * self.prompt + output_tokens * self.output) / 1_000_000


def figures_of(answer: Any) -> Figures:
    """Return what a record took."""
    return Figures(
        answer.latency_ms,
        answer.model_calls,
        answer.prompt_tokens,
        answer.output_tokens,
        answer.cost,
        None if answer.error is None else answer.error_type or "unknown",
    )


def summarised(records: Iterable[Figures]) -> dict[str, Spread]:
    """Return each figure over some records.

    >>> summarised([Figures(10.0, 1, None, None, None), Figures(30.0, 1, None, None, None)])["latency_ms"]
    Spread(mean=20.0, median=20.0, p95=30.0, total=40.0, known=2)
    """
    rows = list(records)
    return {name: _spread([(getattr(row, name), row.failed is None) for row in rows]) for name in FIGURES}


def _spread(values: list[tuple[float | None, bool]]) -> Spread:
    """Return one figure over records, each with whether it was answered."""
    total = [value for value, _ in values if value is not None]
    known = sorted(float(value) for value, answered in values if value is not None and answered)
    return Spread(
        mean=math.fsum(known) / len(known) if known else None,
        median=statistics.median(known) if known else None,
        p95=known[math.ceil(0.95 * len(known)) - 1] if known else None,
        total=math.fsum(total) if total else None,
        known=len(known),
    )


def projected(records: Iterable[Figures], questions: int) -> float | None:
    """Return the cost of a number of questions at the mean cost of the records whose cost is known."""
    costs = [record.cost for record in records if record.cost is not None]
    return math.fsum(costs) / len(costs) * questions if costs else None
