"""``graphkit run``."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import as_json, print_json, print_line, print_problems, say, with_json
from graphkit.cli.options import ON_ERROR, SEED, DatasetArgument, OnErrorOption, StrictOption, on_error_value
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.records.usage import Prices
    from graphkit.systems.importing import System
    from graphkit.systems.runner import Limits
    from graphkit.systems.session import Plan, RunSummary

#: The exit code after Ctrl-C, as shells know it.
INTERRUPTED = 130


@with_json
def run(
    dataset: DatasetArgument,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="[NAME=]MODULE:CALLABLE", help="What to run; may be repeated."),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            "--condition",
            metavar="training|NAME=MODULE:CALLABLE",
            help="A system, or the baseline without retrieval: a model alone. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where NAME.jsonl goes. [default: DATASET/runs]")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="N questions, stratified by difficulty.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.")] = SEED,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Questions at once.")] = 4,
    timeout: Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds for each try of a question.")] = 120.0,
    retries: Annotated[int, typer.Option("--retries", min=0, help="More tries after an error or time-out.")] = 0,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what failed in an earlier command.")
    ] = False,
    k: Annotated[int, typer.Option("--k", min=1, help="How many chunks a system is told will be looked at.")] = 5,
    model: Annotated[str, typer.Option("--model", help="Of the condition training.")] = "claude-haiku-5-5",
    prompt: Annotated[
        Path | None,
        typer.Option("--prompt", metavar="FILE", help="Of the condition training, with {question} in it."),
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Of an answer of the model.")] = 1024,
    price_in: Annotated[
        float | None, typer.Option("--price-in", metavar="PRICE", help="Of a million prompt tokens.")
    ] = None,
    price_out: Annotated[
        float | None, typer.Option("--price-out", metavar="PRICE", help="Of a million output tokens.")
    ] = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Ask systems the questions of a dataset and keep their answers as runs. Run it again to go on after a stop.

    Exit codes: 0 also where questions failed (they are kept and counted), 2 where all of a run did, 130 after Ctrl-C.
    """
    from contextlib import redirect_stdout

    from graphkit.cli.progress import run_progress
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.records.words import counted
    from graphkit.systems.importing import load_system, unique
    from graphkit.systems.runner import Limits
    from graphkit.systems.session import Session, plan

    systems, conditions, limits = system or [], condition or [], Limits(concurrency, timeout, retries)
    if not systems and not conditions:
        raise InputError("there is nothing to run", remedy="Name a system: --system package.module:callable.")
    if not math.isfinite(limits.timeout):
        raise InputError("--timeout is a number of seconds")
    source, problems = Dataset(dataset), Problems(on_error_value(on_error), strict=strict)
    planned = plan(source, problems, sample, seed)
    with redirect_stdout(sys.stderr):  # what systems print must not mix with what is printed here
        chosen = unique(
            [*map(load_system, systems), *(_condition(text, model, prompt, max_tokens, limits) for text in conditions)]
        )
        session = Session(
            source,
            planned,
            chosen,
            out or source.folder / "runs",
            limits,
            _prices(price_in, price_out),
            k,
            retry_failed,
            problems,
        )
        with session.open():
            for file in session.files.values():
                if file.dropped:
                    say(f"note: {file.path}: the last record was cut, and is made anew")
            left = session.left()
            kept = len(planned.questions) * len(chosen) - left.total()
            if kept:
                say(f"note: {counted(kept, 'record')} kept from before, {left.total()} to go")
            with run_progress(left) as advance:
                done = session.run(advance)
            summaries = session.summaries()
    print_problems(problems)
    _show(summaries, planned, sample, seed)
    if not done:
        say("stopped: what is done is kept; run the same command again to go on")
        raise typer.Exit(INTERRUPTED)
    _refuse_all_failed(summaries)


def _condition(text: str, model: str, prompt: Path | None, max_tokens: int, limits: Limits) -> System:
    """Return the system of a condition: the baseline by its name, anything else as ``--system`` takes it."""
    from graphkit.systems.baseline import TRAINING, baseline, read_prompt
    from graphkit.systems.importing import load_system

    if text == TRAINING:
        return baseline(model, read_prompt(prompt), max_tokens=max_tokens, timeout=limits.timeout)
    if ":" not in text:
        raise InputError(
            f"{text!r} is no condition", remedy=f"A condition is {TRAINING}, or name=package.module:callable."
        )
    return load_system(text)


def _prices(prompt: float | None, output: float | None) -> Prices | None:
    from graphkit.records.usage import Prices

    if prompt is None and output is None:
        return None
    if prompt is None or output is None:
        raise InputError("--price-in and --price-out are given together")
    if not all(math.isfinite(price) and price >= 0 for price in (prompt, output)):
        raise InputError("a price is a number of at least 0")
    return Prices(prompt, output)


def _show(summaries: list[RunSummary], planned: Plan, size: int | None, seed: int) -> None:
    from graphkit.cli.tables import print_table

    if as_json():
        drawn = {**planned.as_json(), "seed": seed} if size is not None else None
        for summary in summaries:
            print_json({**summary.as_json(), "sample": drawn})
        return
    if size is not None:
        parts = ", ".join(f"{count} {name}" for name, count in planned.difficulties.items())
        print_line(
            f"sample: {len(planned.questions)} of {len(planned.order)} questions ({parts}), seed {seed}; a share over "
            f"it lies within {100 * planned.margin:.1f} points of that over all (95 %, at worst)"
        )
        print_line()
    rows = [
        [summary.run, name, spread.mean, spread.median, spread.p95, spread.total, f"{spread.known}/{summary.questions}"]
        for summary in summaries
        for name, spread in summary.figures.items()
        if spread.total is not None
    ]
    if rows:
        print_table(None, ["run", "figure", "mean", "median", "p95", "total", "known"], rows)
    for summary in summaries:
        errors = (
            f" ({', '.join(f'{name}: {count}' for name, count in summary.errors.items())})" if summary.errors else ""
        )
        print_line(
            f"{summary.run}: {summary.questions} questions, {summary.answered} answered, "
            f"{summary.failed} failed{errors}, {summary.missing} missing; in {summary.file}"
        )
        if summary.cost is not None:
            print_line(
                f"{summary.run}: cost {summary.cost:.4g} so far, projected {summary.cost_planned:.4g} "
                f"for these questions, {summary.cost_dataset:.4g} for the whole dataset"
            )


def _refuse_all_failed(summaries: list[RunSummary]) -> None:
    """Raise where a run has no answer at all: something is wrong with the system, not with its answers."""
    broken = [summary for summary in summaries if summary.questions and summary.failed == summary.questions]
    if broken:
        errors = "; ".join(f"{summary.run}: {summary.first_error}" for summary in broken)
        raise InputError(
            f"every question failed ({errors})", remedy="Correct the system, and run again with --retry-failed."
        )
