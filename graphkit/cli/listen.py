"""``graphkit listen``."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import as_json, print_json, print_line, say, with_json
from graphkit.cli.options import CommitOption, IdPatternOption, IdsOption, QuestionKeyOption, commit_values

if TYPE_CHECKING:
    from graphkit.errors import InputError
    from graphkit.imports.importer import ImportedLog


@with_json
def listen(
    dataset: Annotated[Path, typer.Option("--dataset", "-d", metavar="DIR", help="Whose questions are answered.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN.jsonl", help="The run.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 4318,
    spans: Annotated[
        Path | None,
        typer.Option(
            "--spans",
            metavar="FILE",
            help="Where the spans are kept as they came. [default: RUN.spans]",
            show_default=False,
        ),
    ] = None,
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
    from graphkit.errors import InputError
    from graphkit.files.dataset import Dataset
    from graphkit.imports.importer import import_log
    from graphkit.imports.listening import listen as listen_until
    from graphkit.imports.receiver import TraceReceiver

    commits = commit_values(commit)
    source = Dataset(dataset)
    if out.exists() and not force:
        raise InputError("there is a file already", where=str(out), remedy="Name another, or replace it by --force.")
    spool = spans or out.with_suffix(".spans")

    def make() -> ImportedLog:
        return import_log(
            [spool],
            "auto",
            source,
            out=out,
            run=run,
            ids=ids,
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
    for line in made.told:
        print_line(line)
    print_line(f"{made.run}: {out}; its spans: {spool}")


def _written(made: ImportedLog) -> None:
    from graphkit.records.words import counted

    say(f"{counted(made.answers, 'answer')} so far")


def _failed(error: InputError) -> None:
    say(f"no run yet: {error}")
