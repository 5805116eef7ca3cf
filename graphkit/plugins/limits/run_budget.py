"""The budget of a run: no call begins that could pass its cost, its number of calls or its time."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from graphkit.errors import InputError
from graphkit.records.models import Answer

#: Seconds between two looks whether the first cost is known.
_PAUSE = 0.02

#: So many failed tries without a cost end a command that knows no cost yet: a few may fail before they cost anything.
UNPRICED = 10


@dataclass
class RunBudget:
    """The limits on the calls of one command, and what these have spent so far; each try is a call.

    Attributes
    ----------
    cost
        The next call counts as the dearest question so far, and so does each failed try without a cost. Until the
        first cost is known, one question is asked at a time, and at most ``UNPRICED`` tries fail without one.
    seconds
        From the moment the budget is made; calls under way are let end.
    stopped
        The limit that was reached, as the user gave it; None while there is none.
    cut_short
        The run and question of each failed try that the limit let have no other.
    """

    cost: float | None = None
    calls: int | None = None
    seconds: float | None = None
    stopped: str | None = None
    cut_short: set[tuple[str, str]] = field(default_factory=set)
    _spent: float = 0.0
    _dearest: float | None = None
    _asked: int = 0
    #: The failed tries whose cost isn't known.
    _unpriced: int = 0
    _under_way: set[tuple[str, str]] = field(default_factory=set)
    _begun: float = field(default_factory=time.monotonic)

    async def begin(self, run: str, question: str) -> bool:
        """Return whether a call may begin, and count it."""
        own = run, question
        while self.cost is not None and self._dearest is None and self._under_way - {own} and not self.stopped:
            await asyncio.sleep(_PAUSE)
        failed = own in self._under_way  # at the try before this one
        self._unpriced += failed
        self._under_way.discard(own)
        self.stopped = self.stopped or self._reached(len(self._under_way) + 1)
        if self.stopped is None:
            self._asked += 1
            self._under_way.add(own)
        elif failed:
            self.cut_short.add(own)
        return self.stopped is None

    def end(self, run: str, question: str, answer: Answer) -> None:
        """Count what a question took, whose record is kept.

        Raises
        ------
        InputError
            There is a limit on the cost, and the answer has none.
        """
        self._under_way.discard((run, question))
        cost = answer.cost
        if cost is None and self.cost is not None and answer.error is None:
            self.stopped = f"--max-cost {self.cost:g}"
            raise InputError(
                f"the answer of {run} to {question} has no cost, so --max-cost can't be kept",
                remedy="Give --price-in and --price-out, or let the system state its tokens or its cost.",
            )
        if cost is None:
            self._unpriced += 1
        else:
            self._spent += cost
            self._dearest = max(cost, self._dearest or 0.0)

    def _reached(self, under_way: int) -> str | None:
        if self.calls is not None and self._asked >= self.calls:
            return f"--max-calls {self.calls}"
        if self.seconds is not None and time.monotonic() - self._begun >= self.seconds:
            return f"--max-time {self.seconds:g}s"
        if self.cost is not None and self._dearest is None and self._unpriced >= UNPRICED:
            return f"--max-cost {self.cost:g}, since {self._unpriced} tries failed and no cost is known"
        expected = self._spent + (self._unpriced + under_way) * (self._dearest or 0.0)
        if self.cost is not None and (expected > self.cost * (1 + 1e-9) or not self.cost):
            return f"--max-cost {self.cost:g}"
        return None
