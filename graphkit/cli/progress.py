"""Progress on standard error, where a terminal is there to show it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from graphkit.cli.base import console
from graphkit.graph.datasets import Progress, quiet


@contextmanager
def shown_progress(title: str) -> Iterator[Progress]:
    """Show what is being loaded and how fast; without a terminal, nothing."""
    if not sys.stderr.isatty():
        yield quiet
        return
    from rich import progress as bars

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}"),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        tasks: dict[str, bars.TaskID] = {}

        def advance(kind: str, count: int) -> None:
            if kind not in tasks:
                tasks[kind] = progress.add_task(f"{title}: {kind}", total=None)
            progress.advance(tasks[kind], count)

        yield advance
