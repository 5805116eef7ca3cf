"""``graphkit run``."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import typer

from graphkit.cli.base import as_json, console, print_json, print_line, say, tell
from graphkit.cli.options import on_error_value
from graphkit.cli.tables import print_table
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Report
from graphkit.records.models import Answer
from graphkit.records.usage import Prices
from graphkit.systems.baseline import TRAINING, baseline, read_prompt
from graphkit.systems.importing import System, load_system, unique
from graphkit.systems.runner import Limits
from graphkit.systems.session import Plan, RunSummary, Session, plan

#: The exit code after Ctrl-C, as shells know it.
INTERRUPTED = 130

#: Without a terminal the progress is told no more often than this, in seconds.
LINE_EVERY = 10.0


def run_command(
    dataset: Path,
    *,
    systems: list[str],
    conditions: list[str],
    out: Path | None,
    sample: int | None,
    seed: int,
    limits: Limits,
    retry_failed: bool,
    k: int,
    model: str,
    prompt: Path | None,
    max_tokens: int,
    prices: tuple[float | None, float | None],
    on_error: str,
) -> None:
    """Ask each system each question, keep each answer, and show what it took."""
    if not systems and not conditions:
        raise InputError("there is nothing to run", remedy="Name a system: --system package.module:callable.")
    if not math.isfinite(limits.timeout):
        raise InputError("--timeout is a number of seconds")
    source, report = Dataset(dataset), Report(on_error_value(on_error))
    planned = plan(source, report, sample, seed)
    with redirect_stdout(sys.stderr):  # what systems print must not mix with what is printed here
        chosen = unique(
            [*map(load_system, systems), *(_condition(one, model, prompt, max_tokens, limits) for one in conditions)]
        )
        session = Session(
            source, planned, chosen, out or source.folder / "runs", limits, _prices(*prices), k, retry_failed, report
        )
        with session.open():
            for file in session.files.values():
                if file.dropped:
                    say(f"note: {file.path}: the last record was cut, and is made anew")
            left = session.left()
            kept = len(planned.questions) * len(chosen) - left.total()
            if kept:
                say(f"note: {kept} record(s) are there already, {left.total()} to go")
            with _progress(left) as advance:
                done = session.run(advance)
            found = session.summaries()
    tell(report)
    _show(found, planned, sample, seed)
    if not done:
        say("stopped: what is done is kept; run the same command again to go on")
        raise typer.Exit(INTERRUPTED)
    _refuse_all_failed(found)


def _condition(text: str, model: str, prompt: Path | None, max_tokens: int, limits: Limits) -> System:
    """Return the system of a condition: the baseline by its name, anything else as ``--system`` takes it."""
    if text == TRAINING:
        return baseline(model, read_prompt(prompt), max_tokens=max_tokens, timeout=limits.timeout)
    if ":" not in text:
        raise InputError(
            f"{text!r} is no condition", remedy=f"A condition is {TRAINING}, or name=package.module:callable."
        )
    return load_system(text)


def _prices(prompt: float | None, output: float | None) -> Prices | None:
    if prompt is None and output is None:
        return None
    if prompt is None or output is None:
        raise InputError("--price-in and --price-out are given together")
    if not all(math.isfinite(price) and price >= 0 for price in (prompt, output)):
        raise InputError("a price is a number of at least 0")
    return Prices(prompt, output)


@dataclass
class _Tally:
    """What is done of a number of questions, what failed, and what it cost."""

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
    """Return what says on a line, now and then and at the end of each system, how far it is: for a log."""
    tallies = {name: _Tally(count) for name, count in left.items()}
    told = time.monotonic()

    def advance(answer: Answer) -> None:
        nonlocal told
        tallies[answer.run].add(answer)
        due = time.monotonic() - told >= LINE_EVERY
        if due:
            told = time.monotonic()
        for name, tally in tallies.items():
            ended = tally.done == tally.total
            if (due and not ended) or (ended and name == answer.run):
                say(f"{name}: {tally.done} of {tally.total} done" + (f", {tally}" if str(tally) else ""))

    return advance


@contextmanager
def _progress(left: Counter[str]) -> Iterator[Callable[[Answer], None]]:
    """Show what is done, what failed, what it cost, and when it may end; without a terminal, as lines."""
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


def _show(found: list[RunSummary], planned: Plan, size: int | None, seed: int) -> None:
    if as_json():
        drawn = {**planned.as_json(), "seed": seed} if size is not None else None
        for one in found:
            print_json({**one.as_json(), "sample": drawn})
        return
    if size is not None:
        parts = ", ".join(f"{count} {name}" for name, count in planned.difficulties.items())
        print_line(
            f"sample: {len(planned.questions)} of {len(planned.order)} questions ({parts}), seed {seed}; a share over "
            f"it lies within {100 * planned.margin:.1f} points of that over all (95 %, at worst)\n"
        )
    rows = [
        [one.run, name, spread.mean, spread.median, spread.p95, spread.total, f"{spread.known}/{one.questions}"]
        for one in found
        for name, spread in one.figures.items()
        if spread.total is not None
    ]
    if rows:
        print_table(None, ["run", "figure", "mean", "median", "p95", "total", "known"], rows)
    for one in found:
        errors = f" ({', '.join(f'{name}: {count}' for name, count in one.errors.items())})" if one.errors else ""
        print_line(
            f"{one.run}: {one.questions} questions, {one.answered} answered, {one.failed} failed{errors}, "
            f"{one.missing} missing; in {one.file}"
        )
        if one.cost is not None:
            print_line(
                f"{one.run}: cost {one.cost:.4g} so far, projected {one.cost_planned:.4g} for these questions, "
                f"{one.cost_dataset:.4g} for the whole dataset"
            )


def _refuse_all_failed(found: list[RunSummary]) -> None:
    """Raise where a run has no answer at all: something is wrong with the system, not with its answers."""
    broken = [one for one in found if one.questions and one.failed == one.questions]
    if broken:
        told = "; ".join(f"{one.run}: {one.first_error}" for one in broken)
        raise InputError(
            f"every question failed ({told})", remedy="Correct the system, and run again with --retry-failed."
        )
