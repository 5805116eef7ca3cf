"""Progress of a run on standard error: as bars in a terminal, and as lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from graphkit.cli.progress import LINE_EVERY
from graphkit.cli.terminal import console, say
from graphkit.records.models import Answer


@dataclass
class _Tally:
    """The number of answered and failed questions of a run, and their cost."""

    total: int
    done: int = 0
    failed: int = 0
    cost: float = 0.0

    def add(self, answer: Answer) -> None:
        self.done += 1
        self.failed += answer.error is not None
        self.cost += answer.cost or 0.0

    def __str__(self) -> str:
        parts = [f"{self.failed} failed"] if self.failed else []
        if self.cost:
            parts.append(f"cost {self.cost:.4g} of about {self.cost / self.done * self.total:.4g}")
        return ", ".join(parts)


def _lines(left: Counter[str]) -> Callable[[Answer], None]:
    """Return a function that prints the progress of each system now and then, and at its end."""
    tallies = {name: _Tally(count) for name, count in left.items()}
    last = time.monotonic()

    def advance(answer: Answer) -> None:
        nonlocal last
        tallies[answer.run].add(answer)
        due = time.monotonic() - last >= LINE_EVERY
        if due:
            last = time.monotonic()
        for name, tally in tallies.items():
            ended = tally.done == tally.total
            if (due and not ended) or (ended and name == answer.run):
                say(f"{name}: {tally.done} of {tally.total} done" + (f", {tally}" if str(tally) else ""))

    return advance


@contextmanager
def run_progress(left: Counter[str]) -> Iterator[Callable[[Answer], None]]:
    """Show what is done, what failed, what it cost, and the time left; without a terminal, as lines."""
    if not sys.stderr.isatty():
        yield _lines(left)
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.fields[note]}"),
    )
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        tally = _Tally(left.total())
        task = progress.add_task("run", total=tally.total, note="")

        def advance(answer: Answer) -> None:
            tally.add(answer)
            progress.update(task, advance=1, note=str(tally))

        yield advance
