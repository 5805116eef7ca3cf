"""The cost of grading a run, beside the cost of the run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphkit.errors import GateError, InputError
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.usage import Spread
from graphkit.records.words import counted


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """The cost of some verdicts. Unknown figures are None, never 0.

    Attributes
    ----------
    verdicts, cached, failed
        The number of verdicts, how many of them were paid for in an earlier grading, and how many failed.
    attempts
        The number of requested replies, those from the cache included.
    prompt_tokens, output_tokens
        Sums over the verdicts that log them.
    cost, unknown
        The cost of the verdicts with a known price, paid now or earlier, and the number of the others.
    spent
        The cost that was paid now, without the cached verdicts.
    run_cost, run_known
        The cost of the graded run, and for how many answered questions it is known.
    graded
        The number of judged answers.
    """

    verdicts: int
    cached: int
    failed: int
    attempts: int
    prompt_tokens: int | None
    output_tokens: int | None
    cost: float | None
    unknown: int
    spent: float | None
    run_cost: float | None
    run_known: int
    graded: int

    @property
    def share(self) -> float | None:
        """The cost of grading over the cost of the run; None if either isn't fully known, or the run was free."""
        if self.cost is None or self.unknown or not self.run_cost or self.run_known < self.graded:
            return None
        return self.cost / self.run_cost

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {**asdict(self), "share": self.share}

    @property
    def of_verdicts(self) -> str:
        """The cost of the verdicts, in words."""
        known = f", the cost of {self.unknown} is unknown" if self.unknown and self.cost is not None else ""
        price = "at an unknown cost" if self.cost is None else f"for {_money(self.cost)}{known}"
        earlier = f" ({counted(self.cached, 'verdict')} paid for earlier)" if self.cached else ""
        failed = f", {self.failed} of them failed," if self.failed else ""
        return f"grading: {counted(self.verdicts, 'verdict')}{failed} {price}{earlier}"

    def __str__(self) -> str:
        """Return one line on both costs."""
        text = self.of_verdicts
        if self.run_cost is None:
            return f"{text}; the cost of the run is unknown"
        of_run = f"{text}; the run cost {_money(self.run_cost)} (known for {counted(self.run_known, 'answer')})"
        return of_run if self.share is None else f"{of_run}, so grading is {self.share:.1%} of that"


def _money(amount: float) -> str:
    return f"{amount:.4f}" if amount < 1 else f"{amount:.2f}"


def judge_cost(verdicts: Iterable[Verdict], run: Spread | None = None) -> JudgeCost:
    """Return the cost of verdicts beside that of their run.

    Parameters
    ----------
    run
        The cost over the records of the run: ``Evaluation.efficiency["cost"]``. None if unknown.
    """
    given = list(verdicts)
    prompt = [one.prompt_tokens for one in given if one.prompt_tokens is not None]
    output = [one.output_tokens for one in given if one.output_tokens is not None]
    costs = [one.cost for one in given if one.cost is not None]
    fresh = [one.cost for one in given if not one.cached]
    return JudgeCost(
        verdicts=len(given),
        cached=sum(one.cached for one in given),
        failed=sum(one.failure is not None for one in given),
        attempts=sum(one.attempts for one in given),
        prompt_tokens=sum(prompt) if prompt else None,
        output_tokens=sum(output) if output else None,
        cost=math.fsum(costs) if costs or not given else None,
        unknown=len(given) - len(costs),
        spent=None if None in fresh else math.fsum(cost for cost in fresh if cost is not None),
        run_cost=None if run is None else run.total,
        run_known=0 if run is None else run.known,
        graded=len({(one.run, one.question) for one in given}),
    )


def require_verdicts(verdicts: Sequence[Verdict], max_cost: float | None, judge: str | None = None) -> None:
    """Raise an error if the budget refused verdicts (GateError), or if every verdict failed (InputError).

    ``judge`` is named if it is one of several.
    """
    if unpaid := sum(one.failure == "over_budget" for one in verdicts):
        raise GateError(
            f"stopped at --max-cost {max_cost:g}: {counted(unpaid, 'verdict')} not asked for",
            remedy="Finished verdicts are kept; the same command asks for the rest, with a limit of its own.",
        )
    if verdicts and all(one.failure is not None for one in verdicts):
        whose = "" if judge is None else f" of {judge}"
        raise InputError(
            f"every verdict{whose} failed", remedy="Correct the cause above, and run the same command again."
        )
