"""What a run gives to a system beside the question."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Meter:
    """Model calls, tokens and cost, counted from any thread; None where nothing was counted."""

    model_calls: int | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, model_calls: int, prompt_tokens: int, output_tokens: int, cost: float | None) -> None:
        """Add what some calls took."""
        with self._lock:
            self.model_calls = (self.model_calls or 0) + model_calls
            self.prompt_tokens = (self.prompt_tokens or 0) + prompt_tokens
            self.output_tokens = (self.output_tokens or 0) + output_tokens
            if cost is not None:
                self.cost = (self.cost or 0.0) + cost


@dataclass
class Context:
    """The second argument of a system that takes one.

    Attributes
    ----------
    dataset
        The folder of the dataset.
    run
        The name of the run.
    commits
        The commit of each repository to read, as far as the question pins them: itself or by its stack.
    k
        How many chunks will be looked at.
    meter
        What was counted by :meth:`used`.
    cancelled
        Set when nobody waits for the answer any more: after the time-out, and when the run is stopped.
    """

    dataset: Path
    run: str
    commits: Mapping[str, str]
    k: int
    cancelled: threading.Event = field(default_factory=threading.Event)
    meter: Meter = field(default_factory=Meter, repr=False)

    def used(
        self, *, model_calls: int = 1, prompt_tokens: int = 0, output_tokens: int = 0, cost: float | None = None
    ) -> None:
        """Count model calls for this question. It counts also where the system fails afterwards."""
        self.meter.add(model_calls, prompt_tokens, output_tokens, cost)
