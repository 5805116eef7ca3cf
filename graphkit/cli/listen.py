"""``graphkit listen``."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import Writes, as_json, print_json, print_line, say, say_text, with_json
from graphkit.cli.options import CommitOption, IdPatternOption, IdsOption, QuestionKeyOption, commit_values

if TYPE_CHECKING:
    from graphkit.errors import InputError
    from graphkit.imports.importer import ImportedLog


#: The formats of spans, each of which names what their attributes mean.
FORMATS = ("auto", "openinference", "otel")


@with_json
def listen(
    dataset: Annotated[Path, typer.Option("--dataset", "-d", metavar="DIR", help="Whose questions are answered.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN.jsonl", help="The run."), Writes("a run")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 4318,
    spans: Annotated[
        Path | None,
        typer.Option(
            "--spans",
            metavar="FILE",
            help="Where the spans are kept as they came. [default: RUN.spans]",
            show_default=False,
        ),
        Writes("spans"),
    ] = None,
    format: Annotated[  # noqa: A002
        str,
        typer.Option("--format", metavar="|".join(FORMATS), help="The conventions that the spans follow."),
    ] = "auto",
    ids: IdsOption = None,
    id_pattern: IdPatternOption = None,
    question_key: QuestionKeyOption = None,
    commit: CommitOption = None,
    run: Annotated[str | None, typer.Option("--run", metavar="NAME", help="[default: the name of its file]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Take the traces of an instrumented system (OTLP over HTTP, this machine only) and make a run of them.

    The run is written whenever a trace is complete, and at Ctrl-C, which ends it.
    """
    from graphkit.errors import InputError, did_you_mean
    from graphkit.files.dataset import Dataset
    from graphkit.files.outputs import check_output, check_outputs_differ
    from graphkit.imports.importer import import_log
    from graphkit.imports.listening import listen as listen_until
    from graphkit.imports.names import read_ids
    from graphkit.imports.receiver import TraceReceiver

    if format not in FORMATS:
        raise InputError(
            f"--format is a convention of spans, not {format!r}",
            remedy=f"{did_you_mean(format, FORMATS)}There are: {', '.join(FORMATS)}.",
        )
    commits = commit_values(commit)
    table = read_ids(ids) if ids is not None else None
    source = Dataset(dataset)
    if out.exists() and not force:
        raise InputError("there is a file already", where=str(out), remedy="Name another, or replace it by --force.")
    spool = spans or out.with_suffix(".spans")
    check_output(spool, "spans", [dataset, *([ids] if ids is not None else [])], force=force)
    check_outputs_differ([out, spool])

    def make() -> ImportedLog:
        return import_log(
            [spool],
            format,
            source,
            out=out,
            run=run,
            ids=table,
            id_pattern=id_pattern,
            question_key=question_key,
            commits=commits,
            replace=True,
        )

    def refused(why: str) -> None:
        say(f"refused: {why}")

    receiver = TraceReceiver(spool, port, refused, force)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # the first is ignored by what a script starts in the background
        signal.signal(number, lambda number, frame: stop.set())
    say(f"OTEL_EXPORTER_OTLP_ENDPOINT={receiver.endpoint}")
    say("Set this where your system runs (its exporter has to be OTLP over HTTP); Ctrl-C ends and writes the run.")
    made = listen_until(receiver, stop, make, _written, _failed)
    if as_json():
        told = {"spans": receiver.spans, "refused": dict(receiver.refusals), "spool": str(spool)}
        print_json(
            {"run": made and made.run, "file": str(out) if made else None, **told, **(made.figures if made else {})}
        )
        return
    if made is None:
        print_line("no spans came: is the variable set, and the exporter OTLP over HTTP?")
        return
    for line in made.summary:
        print_line(line)
    print_line(f"{made.run}: {out}; its spans: {spool}")


def _written(made: ImportedLog) -> None:
    from graphkit.records.words import counted

    say(f"{counted(made.answers, 'answer')} so far")


def _failed(error: InputError) -> None:
    say_text(f"no run yet: {error}")
