"""What grading took, beside what the answers took that were graded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from graphkit.records.usage import Spread
from graphkit.records.verdicts import Verdict
from graphkit.records.words import counted


@dataclass(frozen=True, slots=True)
class GradingCost:
    """What some verdicts took. What nobody knows is None, never 0.

    Attributes
    ----------
    verdicts, cached
        How many there are, and how many of them were paid for in an earlier grading.
    attempts
        How many replies were asked for, those that are served from the cache included.
    prompt_tokens, output_tokens
        Of the verdicts that tell them.
    cost, unknown
        What those verdicts cost whose price is known, paid now or earlier, and how many have none.
    spent
        What of the cost was paid now: without the cached verdicts.
    run_cost, run_known
        What the graded run cost, and of how many answered questions that is known.
    graded
        How many answers the verdicts are on.
    """

    verdicts: int
    cached: int
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
        """The cost of grading over the cost of the run; None where either isn't known in full, or the run was free."""
        if self.cost is None or self.unknown or not self.run_cost or self.run_known < self.graded:
            return None
        return self.cost / self.run_cost

    def __str__(self) -> str:
        """Say it in a line."""
        known = f", the cost of {self.unknown} isn't known" if self.unknown and self.cost is not None else ""
        price = "at a cost that isn't known" if self.cost is None else f"for {_money(self.cost)}{known}"
        earlier = f" ({counted(self.cached, 'verdict')} paid for earlier)" if self.cached else ""
        said = f"grading: {counted(self.verdicts, 'verdict')} {price}{earlier}"
        if self.run_cost is None:
            return f"{said}; what the run cost isn't known"
        of_run = f"{said}; the run cost {_money(self.run_cost)} (known of {counted(self.run_known, 'answer')})"
        return of_run if self.share is None else f"{of_run}, so grading is {self.share:.1%} of that"


def _money(amount: float) -> str:
    return f"{amount:.4f}" if amount < 1 else f"{amount:.2f}"


def grading_cost(verdicts: Iterable[Verdict], run: Spread | None = None) -> GradingCost:
    """Return what verdicts took beside what their run took.

    Parameters
    ----------
    run
        The cost over the records of the run: ``Evaluation.efficiency["cost"]``. None where it isn't known.
    """
    given = list(verdicts)
    prompt = [one.prompt_tokens for one in given if one.prompt_tokens is not None]
    output = [one.output_tokens for one in given if one.output_tokens is not None]
    costs = [one.cost for one in given if one.cost is not None]
    fresh = [one.cost for one in given if not one.cached]
    return GradingCost(
        verdicts=len(given),
        cached=sum(one.cached for one in given),
        attempts=sum(one.attempts for one in given),
        prompt_tokens=sum(prompt) if prompt else None,
        output_tokens=sum(output) if output else None,
        cost=math.fsum(costs) if costs else None,
        unknown=len(given) - len(costs),
        spent=None if None in fresh else math.fsum(cost for cost in fresh if cost is not None),
        run_cost=None if run is None else run.total,
        run_known=0 if run is None else run.known,
        graded=len({(one.run, one.question) for one in given}),
    )
