"""The second argument of a system: its context, with a meter."""

from __future__ import annotations

import operator
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.records.aliases import LARGEST, WIDEST
from graphkit.records.models import Answer, Question


@dataclass(frozen=True)
class Meter:
    """Counts of model calls, tokens and cost; None means not counted."""

    model_calls: int | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


def _sum(name: str, before: int | None, count: int) -> int:
    try:
        total = (before or 0) + operator.index(count)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {count!r}") from None
    if count < 0 or total > LARGEST:
        raise ValueError(f"{name} must be at least 0, and of 64 bits at most in all")
    return total


def _money(cost: float) -> float:
    if isinstance(cost, str):
        raise TypeError(f"cost must be a number, not {cost!r}")
    if not 0 <= float(cost) <= WIDEST:
        raise ValueError(f"cost must be a finite number of at least 0, not {cost!r}")
    return float(cost)


@dataclass
class Context:
    """The second argument of a system that accepts one.

    Attributes
    ----------
    dataset
        The folder of the dataset.
    run
        The name of the run.
    commits
        The commit of each repository that the question pins, itself or through its stack.
    k
        The number of chunks that count.
    meter
        The counts of :meth:`used`.
    history
        The earlier turns of the question's session, in order: each question with the record of its answer, which may
        be a failure.
    cancelled
        Set when the answer is no longer needed: after the time-out, and when the run is stopped.
    """

    dataset: Path
    run: str
    commits: Mapping[str, str]
    k: int
    history: tuple[tuple[Question, Answer], ...] = ()
    cancelled: threading.Event = field(default_factory=threading.Event)
    meter: Meter = field(default=Meter(), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def used(
        self, *, model_calls: int = 1, prompt_tokens: int = 0, output_tokens: int = 0, cost: float | None = None
    ) -> None:
        """Count model calls for this question, even if the system fails afterwards; several threads may count.

        Raise a ValueError or a TypeError if a figure doesn't fit a record; then nothing is counted.
        """
        given = {"model_calls": model_calls, "prompt_tokens": prompt_tokens, "output_tokens": output_tokens}
        with self._lock:
            sums = {name: _sum(name, getattr(self.meter, name), count) for name, count in given.items()}
            money = self.meter.cost if cost is None else (self.meter.cost or 0.0) + _money(cost)
            self.meter = Meter(**sums, cost=money)
