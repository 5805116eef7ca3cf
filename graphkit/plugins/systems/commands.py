"""``graphkit run``."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from graphkit.cli.base import added, command, option, options_of, present, print_line, print_problems, say
from graphkit.cli.options import DATASET_FOLDER, SEED, WHERE, ExecutorOptions, ReadingOptions
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.plugins.systems.importing import System
    from graphkit.plugins.systems.runner import CallBudget, Limits
    from graphkit.plugins.systems.session import Plan, RunSummary, Session
    from graphkit.records.usage import Prices

#: The exit codes after Ctrl-C, as in shells, and of a run that a limit stopped.
INTERRUPTED, STOPPED = 130, 1


@dataclass(frozen=True)
class SystemOptions:
    """The system to run, and its condition."""

    system: list[str] | None = option("--system [NAME=]MODULE:CALLABLE", "Run this system; may be repeated.")
    condition: list[str] | None = option(
        "--condition training|NAME=MODULE:CALLABLE",
        "Run a system, or the baseline without retrieval: a model alone. May be repeated.",
    )
    k: int = option("--k", "Pass systems the number of chunks that will be used.", default=5, min=1)


class Condition(Protocol):
    """The options of a condition that a plug-in adds, by its name as the entry point's (``graphkit.conditions``)."""

    def system(self, limits: Limits) -> System:
        """Return the system of the condition."""
        ...


@dataclass(frozen=True)
class SampleOptions:
    """Options that select the questions, and how often each is asked."""

    sample: int | None = option("--sample N", "Ask N questions, stratified by difficulty.", min=1)
    repeat: int | None = option(
        "--repeat N", "Ask each system N times, as the runs NAME@1 to NAME@N; evaluate shows how far they vary.", min=1
    )
    seed: int = option("--seed", "Seed for the sample.", default=SEED)
    where: str | None = WHERE


@dataclass(frozen=True)
class TryOptions:
    """Limits on asking questions."""

    concurrency: int = option("--concurrency", "Ask so many questions at once.", default=4, min=1)
    timeout: float = option("--timeout", "Stop each try of a question after so many seconds.", default=120.0, min=0.001)
    retries: int = option("--retries", "Try again so many times after an error or time-out.", default=0, min=0)
    retry_failed: bool = option("--retry-failed", "Ask again what failed in an earlier command.")

    def limits(self) -> Limits:
        """Return the options of the library."""
        from graphkit.plugins.systems.runner import Limits

        return Limits(self.concurrency, self.timeout, self.retries)


class RunExtras(Protocol):
    """An addition of a plug-in to a run, with its options (entry points of ``graphkit.options.run``)."""

    def instead(self, session: Session, repeat: int | None, dry_run: bool, of_runs: Sequence[str]) -> bool:
        """Do what the options ask for in place of a run; return whether they ask for that.

        ``repeat`` is how often each system is repeated in the session; None if it isn't. In a ``dry_run`` the calls are
        only counted. ``of_runs`` are the options that were given and that only a run can heed.
        """
        ...

    def budget(self) -> CallBudget | None:
        """Return what the calls may take; None without a limit."""
        ...


@dataclass(frozen=True)
class PriceOptions:
    """Prices of tokens."""

    price_in: float | None = option("--price-in PRICE", "Price a million prompt tokens at PRICE.")
    price_out: float | None = option("--price-out PRICE", "Price a million output tokens at PRICE.")

    def prices(self) -> Prices | None:
        """Return the options of the library."""
        from graphkit.records.usage import Prices

        if self.price_in is None and self.price_out is None:
            return None
        if self.price_in is None or self.price_out is None:
            raise InputError("--price-in and --price-out must be given together")
        if not all(math.isfinite(price) and price >= 0 for price in (self.price_in, self.price_out)):
            raise InputError("a price must be a number of at least 0")
        return Prices(self.price_in, self.price_out)


@command()
def run(
    *,
    dataset: Path = DATASET_FOLDER,
    what: SystemOptions,
    baselines: dict[str, Condition] = added("graphkit.conditions"),
    drawn: SampleOptions,
    tries: TryOptions,
    extras: dict[str, RunExtras] = added("graphkit.options.run"),
    dry_run: bool = option("--dry-run", "Print how many calls this would make; ask nothing."),
    prices: PriceOptions,
    reading: ReadingOptions,
    workers: ExecutorOptions,
    out: Path | None = option("--out -o DIR", "Write NAME.jsonl to DIR. [default: DATASET/runs]"),
) -> None:
    """Ask systems the questions, and keep their answers.

    The answers become runs. Run it again to continue after a stop.

    Exit codes: 0 even if questions failed (they are kept and counted), 1 if a limit stopped it, 2 if all of a run
    failed, 130 after Ctrl-C.
    """
    from contextlib import redirect_stdout

    resources = workers.reserved()
    session = _session(dataset, what, baselines, drawn, tries, prices, reading, out)
    session.budget = next((found for one in extras.values() if (found := one.budget()) is not None), None)
    given = {"--on": workers.on, "--out": out, "--retry-failed": tries.retry_failed or None}
    of_runs = [name for name, value in given.items() if value is not None]
    if any(one.instead(session, drawn.repeat, dry_run, of_runs) for one in extras.values()):
        return
    if dry_run:
        _show_calls(session)
        return
    planned = session.plan
    with redirect_stdout(sys.stderr):
        done, summaries = _asked(session, len(planned.questions) * len(session.systems), workers.on, resources)
    print_problems(session.problems)
    sample = {**planned.as_json(), "seed": drawn.seed} if drawn.sample is not None else None
    present(lambda: _show(summaries, planned, drawn), *({**one.as_json(), "sample": sample} for one in summaries))
    _end(done, session, summaries)


def _session(
    dataset: Path,
    what: SystemOptions,
    baselines: Mapping[str, Condition],
    drawn: SampleOptions,
    tries: TryOptions,
    prices: PriceOptions,
    reading: ReadingOptions,
    out: Path | None,
) -> Session:
    """Return the systems with the questions that they are asked; raise an InputError if the options name none."""
    from contextlib import redirect_stdout

    from graphkit.files.dataset import Dataset
    from graphkit.plugins.systems.importing import load_system, repeated, unique
    from graphkit.plugins.systems.session import Session, plan
    from graphkit.scoring.chosen_questions import ChosenQuestions

    systems, conditions = what.system or [], what.condition or []
    if not systems and not conditions:
        raise InputError("there is nothing to run", remedy="Name a system: --system package.module:callable.")
    limits, source, problems = tries.limits(), Dataset(dataset), reading.problems()
    picked = None if drawn.where is None else ChosenQuestions.of(source, drawn.where)
    planned = plan(source, problems, drawn.sample, drawn.seed, None if picked is None else picked.ids)
    if picked is not None:
        say(f"note: {picked}")
    with redirect_stdout(sys.stderr):  # the output of systems must not mix with the output of this command
        asked = unique([*map(load_system, systems), *(_condition(text, baselines, limits) for text in conditions)])
        chosen = unique(repeated(asked, drawn.repeat))
    folder = out or source.folder / "runs"
    return Session(source, planned, chosen, folder, limits, prices.prices(), what.k, tries.retry_failed, problems, say)


def _end(done: bool, session: Session, summaries: Sequence[RunSummary]) -> None:
    """Exit with the code of a run that was interrupted, that a limit stopped, or that has no answer; else return."""
    from graphkit.plugins.systems.session import require_answers

    if not done:
        say("stopped: the answers so far are kept; run the same command again to continue")
        raise typer.Exit(INTERRUPTED)
    if session.budget is not None and session.budget.stopped:
        left = counted(sum(one.missing for one in summaries), "answer")
        ended = f"stopped by {session.budget.stopped}: {left} missing, the others are kept"
        if cut := len(session.budget.cut_short):
            ended += f"; {counted(cut, 'question')} failed with tries left, and will be asked again"
        say(f"{ended}; run the same command again to continue")
        raise typer.Exit(STOPPED)
    require_answers(summaries)


def _condition(text: str, baselines: Mapping[str, Condition], limits: Limits) -> System:
    """Return the system of a condition: by its name one that a plug-in adds, or any other as ``--system`` names it."""
    from graphkit.plugins.systems.importing import load_system

    if text in baselines:
        return baselines[text].system(limits)
    if ":" not in text:
        from graphkit.records.plugins import installed, load

        if (point := installed("graphkit.conditions").get(text)) is not None:  # raises: it can't be used
            load(point, InputError, f"--condition {text}", options_of(Condition))
        known = "".join(f"{name}, or " for name in baselines)
        raise InputError(f"{text!r} is no condition", remedy=f"A condition is {known}name=package.module:callable.")
    return load_system(text)


def _show_calls(session: Session) -> None:
    """Print how many calls are left, of each run and in all, and what they cost at most if that is known."""
    from graphkit.plugins.systems.expected_calls import expected_calls

    runs, more = expected_calls(session), session.limits.retries
    lines = [
        f"{name}: {counted(one.calls, 'call')}, {one.kept} kept"
        + ("" if one.most_cost is None else f", at most about {one.most_cost:.4g}")
        for name, one in runs.items()
    ]
    calls = sum(one.calls for one in runs.values())
    lines.append(f"{counted(calls, 'call')} in all" + (f", and up to {calls * more} more tries" if more else ""))
    present(lines, {"calls": calls, "runs": {name: one._asdict() for name, one in runs.items()}})


def _asked(
    session: Session, records: int, on: str | None, resources: dict[str, float]
) -> tuple[bool, list[RunSummary]]:
    """Ask the questions that are left; return whether all were asked, and the summaries."""
    from graphkit.plugins.systems.run_progress import run_progress

    with session.open():
        for file in session.files.values():
            if file.dropped:
                say(f"note: {file.path}: the last record was truncated; its question is asked again")
        left = session.left()
        if kept := records - left.total():
            more = "" if left.total() else "; to ask a changed system, name its run anew or remove the file"
            say(f"note: {counted(kept, 'record')} kept from an earlier command, {left.total()} to go{more}")
        with run_progress(left) as advance:
            done = session.run(advance, on, resources)
        return done, session.summaries()


def _show(summaries: Sequence[RunSummary], planned: Plan, drawn: SampleOptions) -> None:
    from graphkit.cli.scorecards import print_efficiency

    if drawn.sample is not None:
        parts = ", ".join(f"{count} {name}" for name, count in planned.difficulties.items())
        print_line(
            f"sample: {len(planned.questions)} of {planned.of} questions ({parts}), seed {drawn.seed}; a share "
            f"over it lies within about {100 * planned.margin:.0f} points of that over all (95 %, at worst)"
        )
        print_line()
    print_efficiency({one.run: (one.known_figures(), one.questions) for one in summaries})
    for summary in summaries:
        errors = ", ".join(f"{name}: {count}" for name, count in summary.errors.items())
        print_line(
            f"{summary.run}: {counted(summary.questions, 'question')}, {summary.answered} answered, "
            f"{summary.failed} failed{f' ({errors})' if errors else ''}, {summary.missing} missing; in {summary.file}"
        )
        if summary.cost is not None:
            print_line(
                f"{summary.run}: cost {summary.cost:.4g} so far, projected {summary.cost_planned:.4g} "
                f"for these questions, {summary.cost_dataset:.4g} for the whole dataset"
            )
