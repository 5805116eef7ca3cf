"""``graphkit listen``."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import Writes, as_json, command, print_json, print_line, say, say_text
from graphkit.cli.options import (
    CommitOption,
    IdPatternOption,
    IdsOption,
    NewRunDatasetOption,
    NewRunNameOption,
    NewRunOption,
    QuestionKeyOption,
    commit_values,
)
from graphkit.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphkit.imports.importer import ImportedLog
    from graphkit.imports.receiver import TraceReceiver


#: The formats of spans, each of which names the meaning of their attributes.
FORMATS = ("auto", "openinference", "otel")


@dataclass(frozen=True)
class NameOptions:
    """Options for converting names in spans to ids of questions and artifacts."""

    ids: IdsOption = None
    id_pattern: IdPatternOption = None
    question_key: QuestionKeyOption = None
    commit: CommitOption = None


@command()
def listen(
    dataset: NewRunDatasetOption,
    out: NewRunOption,
    names: NameOptions,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Listen on this port; 0 chooses a free one.")
    ] = 4318,
    spans: Annotated[
        Path | None,
        typer.Option(
            "--spans",
            metavar="FILE",
            help="Keep the spans in FILE as they came. [default: RUN.spans]",
            show_default=False,
        ),
        Writes("spans"),
    ] = None,
    format: Annotated[  # noqa: A002
        str,
        typer.Option("--format", metavar=f"[{'|'.join(FORMATS)}]", help="Read spans that follow these conventions."),
    ] = "auto",
    run: NewRunNameOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Receive the traces of an instrumented system (OTLP over HTTP, this machine only) and make a run of them.

    The run is written whenever a trace is complete, and at Ctrl-C, which ends the command.
    """
    from graphkit.files.dataset import Dataset
    from graphkit.files.outputs import check_output, check_outputs_differ
    from graphkit.imports.importer import import_log
    from graphkit.imports.names import read_ids
    from graphkit.imports.receiver import TraceReceiver

    if format not in FORMATS:
        what = f"{format!r} is not one of {', '.join(map(repr, FORMATS))}"
        raise InputError(what, where="--format", remedy=did_you_mean(format, FORMATS).strip() or None)
    spool = spans or out.with_suffix(".spans")
    make = partial(
        import_log,
        [spool],
        format,
        Dataset(dataset),
        out=out,
        run=run,
        ids=read_ids(names.ids) if names.ids is not None else None,
        id_pattern=names.id_pattern,
        question_key=names.question_key,
        commits=commit_values(names.commit),
        replace=True,
    )
    if out.exists() and not force:
        raise InputError("the file exists", where=str(out), remedy="Name another, or replace it by --force.")
    check_output(spool, "spans", [dataset, *([names.ids] if names.ids is not None else [])], force=force)
    check_outputs_differ([out, spool])
    receiver = TraceReceiver(spool, port, lambda why: say(f"refused: {why}"), force)
    _print(_listen(receiver, make), receiver, out, spool)


def _print(made: ImportedLog | None, receiver: TraceReceiver, out: Path, spool: Path) -> None:
    if as_json():
        received = {"spans": receiver.spans, "refused": dict(receiver.refusals), "spool": str(spool)}
        figures = made.figures if made else {}
        print_json({"run": made and made.run, "file": str(out) if made else None, **received, **figures})
    elif made is None:
        print_line("no spans came: is the variable set, and the exporter OTLP over HTTP?")
    else:
        for line in made.summary:
            print_line(line)
        print_line(f"{made.run}: {out}; its spans: {spool}")


def _listen(receiver: TraceReceiver, make: Callable[[], ImportedLog]) -> ImportedLog | None:
    """Receive spans until a signal comes, and return the run."""
    from graphkit.imports.receiver import listen
    from graphkit.records.words import counted

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a script ignores the first
        signal.signal(number, lambda number, frame: stop.set())
    say(f"OTEL_EXPORTER_OTLP_ENDPOINT={receiver.endpoint}")
    say("Set this where your system runs (its exporter must use OTLP over HTTP); Ctrl-C ends and writes the run.")
    return listen(
        receiver,
        stop,
        make,
        lambda made: say(f"{counted(made.answers, 'answer')} so far"),
        lambda error: say_text(f"no run yet: {error}"),
    )
