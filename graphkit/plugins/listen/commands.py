"""``graphkit listen``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, option, present, say, say_text, stop_event
from graphkit.cli.options import NEW_RUN, NEW_RUN_DATASET, NEW_RUN_NAME, QUESTION_KEY, NameOptions
from graphkit.errors import InputError, did_you_mean
from graphkit.records.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphkit.imports.importer import ImportedLog
    from graphkit.plugins.listen.receiver import TraceReceiver


#: The formats of spans, each of which names the meaning of their attributes.
FORMATS = ("auto", "openinference", "otel")


@dataclass(frozen=True)
class SpanOptions(NameOptions):
    """Options for converting names in spans to ids of questions and artifacts."""

    question_key: str | None = QUESTION_KEY


@command()
def listen(
    *,
    dataset: Path = NEW_RUN_DATASET,
    out: Path = NEW_RUN,
    names: SpanOptions,
    port: int = option("--port", "Listen on this port; 0 chooses a free one.", default=4318, min=0, max=65535),
    spans: Path | None = option(
        "--spans FILE", "Keep the spans in FILE as they came. [default: RUN.spans]", writes="spans", show_default=False
    ),
    format: str = option(  # noqa: A002
        f"--format [{'|'.join(FORMATS)}]", "Read spans that follow these conventions.", default="auto"
    ),
    run: str | None = NEW_RUN_NAME,
    force: bool = option("--force", "Replace files that exist."),
) -> None:
    """Receive traces of a system, and make a run of them.

    Traces come by OTLP over HTTP, from this machine only. The run is written whenever a trace is complete,
    and at Ctrl-C, which ends the command.
    """
    from graphkit.files.dataset import Dataset
    from graphkit.files.outputs import check_output, check_outputs_differ
    from graphkit.imports.importer import import_log
    from graphkit.imports.names import read_ids
    from graphkit.plugins.listen.receiver import TraceReceiver

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
        replace=True,
        **{**names.keywords(), "ids": read_ids(names.ids) if names.ids is not None else None},
    )
    if out.exists() and not force:
        raise InputError("the file exists", where=str(out), remedy="Name another, or replace it by --force.")
    check_output(spool, "spans", [dataset, *([names.ids] if names.ids is not None else [])], force=force)
    check_outputs_differ([out, spool])
    receiver = TraceReceiver(spool, port, lambda why: say(f"refused: {why}"), force)
    _print(_listen(receiver, make), receiver, out, spool)


def _print(made: ImportedLog | None, receiver: TraceReceiver, out: Path, spool: Path) -> None:
    received = {"spans": receiver.spans, "refused": dict(receiver.refusals), "spool": str(spool)}
    if made is None:
        text = "no spans came: is the variable set, and the exporter OTLP over HTTP?"
        present(text, {"run": None, "file": None, **received})
    else:
        lines = [*made.summary, f"{made.run}: {out}; its spans: {spool}"]
        present(lines, {"run": made.run, "file": str(out), **received, **made.figures})


def _listen(receiver: TraceReceiver, make: Callable[[], ImportedLog]) -> ImportedLog | None:
    """Receive spans until a signal comes, and return the run."""
    from graphkit.plugins.listen.receiver import listen

    stop = stop_event()
    say(f"OTEL_EXPORTER_OTLP_ENDPOINT={receiver.endpoint}")
    say("Set this where your system runs (its exporter must use OTLP over HTTP); Ctrl-C ends and writes the run.")
    return listen(
        receiver,
        stop,
        make,
        lambda made: say(f"{counted(made.answers, 'answer')} so far"),
        lambda error: say_text(f"no run yet: {error}"),
    )
