"""``graphkit run --twin``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphkit.cli.base import option, present
from graphkit.errors import GateError, InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.plugins.systems.runner import CallBudget
    from graphkit.plugins.systems.session import Session


@dataclass(frozen=True)
class TwinOptions:
    """A run over two graphs, whose answers aren't kept."""

    twin: bool = option(
        "--twin",
        "Ask twice (or --repeat N) over the whole graph and over what the principal may read, keep nothing, and fail "
        "if a walk or an answer differs.",
    )

    def instead(self, session: Session, repeat: int | None, dry_run: bool, of_runs: Sequence[str]) -> bool:
        """Ask over both graphs, if that is what is asked for, and return whether it is; ``dry_run`` counts the calls.

        Raises
        ------
        InputError
            No question has a principal, each is to be asked only once, or an option of runs is given.
        GateError
            What is forbidden had an influence, a question has no answers to compare, or a limit stopped it.
        """
        if not self.twin:
            return False
        if repeat == 1:
            what = "--twin can't tell an influence from chance by one answer over each graph"
            raise InputError(what, where="--repeat 1", remedy="Write --repeat 2 or more, or leave it out.")
        if of_runs:
            what = "--twin keeps no run, and asks in this process"
            raise InputError(what, where=of_runs[0], remedy="Leave it out, or leave out --twin.")
        from graphkit.plugins.access.twins import ASKED, twins, twins_in_words

        if dry_run:
            each = (
                2 * sum(one.principal is not None for one in session.plan.questions) * (ASKED if repeat is None else 1)
            )
            names = [one.name for one in session.systems]
            lines = [f"{name}: {counted(each, 'call')} over both graphs" for name in names]
            calls = {"calls": each * len(names), "runs": {name: {"calls": each} for name in names}}
            present([*lines, f"{counted(each * len(names), 'call')} in all"], calls)
            return True
        found = twins(session)
        if not found:
            what = "no question has a principal, for whom something could be forbidden"
            raise InputError(what, where="--twin", remedy="Name one by --as, or in the questions.")
        present(twins_in_words(found), *(one.as_json() for one in found))
        if caught := sum(one.outcome == "influence" for one in found):
            what = f"what is forbidden had an influence on {caught} of {counted(len(found), 'question')}"
            raise GateError(what, remedy="Filter the graph by the principal at each hop, not the result at the end.")
        if empty := sum(one.outcome == "nothing" for one in found):
            what = (
                f"nothing can be compared on {empty} of {counted(len(found), 'question')}: an influence isn't ruled out"
            )
            raise GateError(what, remedy="Look at what the system raises or returns, as by --twin --json.")
        return True

    def budget(self) -> CallBudget | None:
        """Return no limit."""
        return None
