"""What answers take: time, model calls, tokens and money, of each record and of a run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

# Their names only: prices and figures need neither kind of record.
if TYPE_CHECKING:
    from graphkit.records.models import Answer
    from graphkit.records.structs import AnswerStruct


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
    """What a million tokens cost, in whatever currency.

    Attributes
    ----------
    cache_read, cache_write
        Of prompt tokens that a server had kept, and of those that it keeps for the next request; None where they cost
        what any other does.
    batch
        The share of all this that a request costs in a batch.
    long_prompt, long
        How many tokens a prompt may have at these prices, and the prices of a request whose prompt has more.
    """

    prompt: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    batch: float = 1.0
    long_prompt: int | None = None
    long: Prices | None = None

    def of(
        self, prompt_tokens: int, output_tokens: int, cache_read_tokens: int = 0, cache_write_tokens: int = 0
    ) -> float:
        """Return what the tokens of one request cost; ``prompt_tokens`` are those that no cache had or keeps.

        >>> Prices(1.0, 5.0).of(2_000_000, 100_000)
        2.5
        >>> Prices(1.0, 5.0, cache_read=0.1, cache_write=1.25).of(0, 0, 1_000_000, 2_000_000)
        2.6
        """
        tokens = prompt_tokens + cache_read_tokens + cache_write_tokens
        if self.long is not None and self.long_prompt is not None and tokens > self.long_prompt:
            return self.long.of(prompt_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
        read = self.prompt if self.cache_read is None else self.cache_read
        write = self.prompt if self.cache_write is None else self.cache_write
        parts = (
            prompt_tokens * self.prompt,
            output_tokens * self.output,
            cache_read_tokens * read,
            cache_write_tokens * write,
        )
        return math.fsum(parts) / 1_000_000


def figures_of(answer: Answer | AnswerStruct) -> Figures:
    """Return what a record took."""
    return Figures(
        answer.latency_ms,
        answer.model_calls,
        answer.prompt_tokens,
        answer.output_tokens,
        answer.cost,
        None if answer.error is None else answer.error_type or "unknown",
    )


class Tally:
    """The figures of many records, kept as bare numbers: eight bytes each, and none for what isn't known."""

    def __init__(self) -> None:
        self._answered = {name: array("d") for name in FIGURES}
        self._failed = {name: array("d") for name in FIGURES}

    def add(self, figures: Figures) -> None:
        """Add one record."""
        kept = self._answered if figures.failed is None else self._failed
        for name in FIGURES:
            value: float | None = getattr(figures, name)
            if value is not None:
                kept[name].append(value)

    def merge(self, other: Tally) -> None:
        """Add the records of another tally."""
        for name in FIGURES:
            self._answered[name].extend(other._answered[name])
            self._failed[name].extend(other._failed[name])

    def spreads(self) -> dict[str, Spread]:
        """Return each figure over the records."""
        return {name: _spread(self._answered[name], self._failed[name]) for name in FIGURES}


def summarised(records: Iterable[Figures]) -> dict[str, Spread]:
    """Return each figure over some records.

    >>> summarised([Figures(10.0, 1, None, None, None), Figures(30.0, 1, None, None, None)])["latency_ms"]
    Spread(mean=20.0, median=20.0, p95=30.0, total=40.0, known=2)
    """
    tally = Tally()
    for record in records:
        tally.add(record)
    return tally.spreads()


def _spread(answered: Sequence[float], failed: Sequence[float]) -> Spread:
    known = sorted(answered)
    count = len(known)
    return Spread(
        mean=math.fsum(known) / count if known else None,
        median=(known[(count - 1) // 2] + known[count // 2]) / 2 if known else None,
        p95=known[math.ceil(0.95 * count) - 1] if known else None,
        total=math.fsum(chain(known, failed)) if known or failed else None,
        known=count,
    )


def projected(records: Iterable[Figures], questions: int) -> float | None:
    """Return the cost of a number of questions at the mean cost of the records whose cost is known."""
    costs = [record.cost for record in records if record.cost is not None]
    return math.fsum(costs) / len(costs) * questions if costs else None
