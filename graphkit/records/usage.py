"""The usage of answers: time, model calls, tokens and cost, per record and per run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from graphkit.records.models import Answer
    from graphkit.records.structs import AnswerStruct

#: Whole numbers, or fractions.
Number = TypeVar("Number", int, float)


class Figures(NamedTuple):
    """The usage of one record, None if unknown; and the type of its error, None without one."""

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
    """One figure over the records of a run, None if no record has it.

    Mean, median and 95th percentile (nearest rank) cover the ``known`` answered questions; ``total`` covers all
    records, since failed questions take time and money too.
    """

    mean: float | None
    median: float | None
    p95: float | None
    total: float | None
    known: int


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a million tokens, in any currency.

    Attributes
    ----------
    cache_read, cache_write
        The prices of prompt tokens that a server reads from its cache or writes to it; by default that of other tokens.
    batch
        The share of these prices in a batch.
    long_prompt, long
        The longest prompt at these prices, and the prices of requests with a longer one.
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
        """Return the cost of a request; ``prompt_tokens`` don't include cached tokens.

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
    """Return the usage of a record."""
    return Figures(
        answer.latency_ms,
        answer.model_calls,
        answer.prompt_tokens,
        answer.output_tokens,
        answer.cost,
        None if answer.error is None else answer.error_type or "unknown",
    )


class Tally:
    """The usage of many records as bare numbers: eight bytes per known value."""

    def __init__(self) -> None:
        self._answered = {name: array("d") for name in FIGURES}
        self._failed = {name: array("d") for name in FIGURES}

    def add(self, figures: Figures) -> None:
        """Add a record."""
        kept = self._answered if figures.failed is None else self._failed
        for name in FIGURES:
            value: float | None = getattr(figures, name)
            if value is not None:
                kept[name].append(value)

    def merge(self, other: Tally) -> None:
        """Add another tally."""
        for name in FIGURES:
            self._answered[name].extend(other._answered[name])
            self._failed[name].extend(other._failed[name])

    def packed(self) -> dict[str, tuple[bytes, bytes]]:
        """Return the bare numbers of each figure, of answered questions and of failed ones."""
        return {name: (self._answered[name].tobytes(), self._failed[name].tobytes()) for name in FIGURES}

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


def added(values: Iterable[Number]) -> Number:
    """Return the sum of what a log states: of whole numbers as it is, else rounded once, and not finite if too large.

    The built-in ``sum`` of fractions has other last digits from Python 3.12 on, and ``math.fsum`` refuses what is too
    large.

    >>> added([0.1] * 10), added([1, 2]), added([1e308, 1e308])
    (1.0, 3, inf)
    """
    given = list(values)
    if all(isinstance(one, int) for one in given):
        return sum(given)
    try:
        return math.fsum(given)  # type: ignore[return-value] # whole numbers alone were returned before
    except (OverflowError, ValueError):
        return math.inf if max(given) > -min(given) else -math.inf  # type: ignore[return-value]


def projected(records: Iterable[Figures], questions: int) -> float | None:
    """Return the cost of a number of questions at the mean known cost."""
    costs = [record.cost for record in records if record.cost is not None]
    return math.fsum(costs) / len(costs) * questions if costs else None
