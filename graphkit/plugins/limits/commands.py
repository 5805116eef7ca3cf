"""The limits of ``graphkit run``, and how many calls there would be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphkit.cli.base import option, present
from graphkit.cli.options import MAX_COST
from graphkit.errors import InputError
from graphkit.records.option_values import timed
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.plugins.limits.run_budget import RunBudget
    from graphkit.plugins.systems.session import Session


def _time(text: str) -> float:
    if not 0 <= (found := timed(text)) < math.inf:
        raise InputError(f"--max-time takes a time such as 90s, 30min or 2h, not {text!r}")
    return found


@dataclass(frozen=True)
class LimitOptions:
    """Limits on all calls of the command, and how many there would be."""

    max_cost: float | None = MAX_COST
    max_calls: int | None = option("--max-calls N", "Stop before more than N calls; each try is one.", min=0)
    max_time: float | None = option("--max-time TIME", "Begin no call after TIME, such as 30min.", parser=_time)
    dry_run: bool = option("--dry-run", "Print how many calls this would make; ask nothing.")

    def counted(self, session: Session) -> bool:
        """Print how many calls there would be, if that is all that is asked for, and return whether it is."""
        if self.dry_run:
            _show_calls(session)
        return self.dry_run

    def budget(self) -> RunBudget | None:
        """Return the budget of the library; None without a limit."""
        from graphkit.plugins.limits.run_budget import RunBudget

        limits = self.max_cost, self.max_calls, self.max_time
        return None if limits == (None, None, None) else RunBudget(*limits)


def _show_calls(session: Session) -> None:
    """Print how many calls are left, of each run and in all, and what they cost at most if that is known."""
    from graphkit.plugins.limits.run_budget import expected_calls

    runs, more = expected_calls(session), session.limits.retries
    lines = [
        f"{name}: {counted(one.calls, 'call')}, {one.kept} kept"
        + ("" if one.most_cost is None else f", at most about {one.most_cost:.4g}")
        for name, one in runs.items()
    ]
    calls = sum(one.calls for one in runs.values())
    lines.append(f"{counted(calls, 'call')} in all" + (f", and up to {calls * more} more tries" if more else ""))
    present(lines, {"calls": calls, "runs": {name: one._asdict() for name, one in runs.items()}})
