"""The limits of ``graphkit run``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphkit.cli.base import option
from graphkit.cli.options import MAX_COST
from graphkit.errors import InputError
from graphkit.records.option_values import timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.plugins.limits.run_budget import RunBudget


def _time(text: str) -> float:
    if not 0 <= (found := timed(text)) < math.inf:
        raise InputError(f"--max-time takes a time such as 90s, 30min or 2h, not {text!r}")
    return found


@dataclass(frozen=True)
class LimitOptions:
    """Limits on all calls of the command."""

    max_cost: float | None = MAX_COST
    max_calls: int | None = option("--max-calls N", "Stop before more than N calls; each try is one.", min=0)
    max_time: float | None = option("--max-time TIME", "Begin no call after TIME, such as 30min.", parser=_time)

    def instead(self, session: object, repeat: int | None, dry_run: bool, of_runs: Sequence[str]) -> bool:
        """Return False: a limit holds for a run."""
        return False

    def budget(self) -> RunBudget | None:
        """Return the budget of the library; None without a limit."""
        from graphkit.plugins.limits.run_budget import RunBudget

        limits = self.max_cost, self.max_calls, self.max_time
        return None if limits == (None, None, None) else RunBudget(*limits)
