"""``graphkit import`` with a command for each format (``import`` is a keyword, so the module has another name)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graphkit.cli.base import Commands, argument, command, made_command, option, present, say
from graphkit.cli.import_gold import import_gold
from graphkit.cli.import_graph import import_graph
from graphkit.cli.options import NEW_RUN, NEW_RUN_DATASET, NEW_RUN_NAME, REPLACE_FILE, LogOptions
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.evaluation_plan import RunSource

#: The options of an import that graphkit's own records accept as well, without a format.
OF_OWN_RECORDS = ("--ids", "--id-pattern", "--commit")

FILES = argument("FILE...", "Read these logs (also .gz and .zst).")


def formats() -> list[str]:
    """Return the names of the formats of logs."""
    from graphkit.readers.known_formats import formats

    return formats()


class FormatCommands(Commands):
    """The commands of ``graphkit import``; those of formats are made on demand, since listing readers takes time."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return ["auto", *formats(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command, or None if there is none of this name."""
        if name in self.commands or name not in ("auto", *formats()):
            return super().get_command(ctx, name)
        title = "Recognise the format of each file." if name == "auto" else _title(name)
        return made_command(name, _importing(name), help=f"Import logs. {title}", short_help=title)


imports = typer.Typer(
    cls=FormatCommands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Make runs from what libraries and agents log: no code, and no dependency on them.",
)


def _title(format: str) -> str:  # noqa: A002
    """Return what the reader of a format reads."""
    from graphkit.readers.known_formats import reader_of

    try:
        return reader_of(format).title
    except InputError:  # importing this format reports why its reader can't be loaded
        return f"Import logs of {format}."


def _importing(format: str) -> Callable[..., None]:  # noqa: A002
    @command()
    def run_import(
        *,
        files: list[Path] = FILES,
        dataset: Path = NEW_RUN_DATASET,
        out: Path = NEW_RUN,
        logs: LogOptions,
        run: str | None = NEW_RUN_NAME,
        force: bool = REPLACE_FILE,
        strict: bool = option("--strict", "Refuse a log with fields that aren't read."),
    ) -> None:
        from graphkit.imports.importer import import_log

        made = import_log(files, format, dataset, out=out, run=run, replace=force, strict=strict, **logs.keywords())
        lines = [*made.summary, f"{made.run}: {out}"]
        present(lines, {"run": made.run, "file": str(out), **made.figures})

    return run_import


imports.command("gold")(import_gold)
imports.command("graph")(import_graph)


@contextmanager
def as_runs(
    files: list[Path],
    format: str | None,  # noqa: A002
    dataset: Path | None,
    logs: LogOptions,
) -> Iterator[list[RunSource]]:
    """Yield each log as a run, imported into a temporary folder if it has a format or if its ids must be looked up."""
    from graphkit.analysis.evaluation_plan import RunSource

    if format is None:
        if others := [option for option in logs.given() if option not in OF_OWN_RECORDS]:
            raise InputError(
                f"{others[0]} is for logs of other tools",
                remedy="Name what wrote them: --format auto, or the name of a format.",
            )
        if not logs.given():
            yield [RunSource(file, file) for file in files]
            return
    if dataset is None:
        raise InputError("a log needs the dataset of its questions", remedy="Name the dataset by --dataset.")
    from graphkit.files.leftovers import held_folder
    from graphkit.files.run_files import first_run
    from graphkit.imports.importer import import_log, run_name_of

    with held_folder() as folder:
        runs = []
        for number, file in enumerate(files):
            run = folder / str(number) / f"{run_name_of(file)}.jsonl"
            run.parent.mkdir()
            name = first_run(file) if format is None else None
            for line in import_log(file, format or "graphkit", dataset, out=run, run=name, **logs.keywords()).summary:
                say(line)
            runs.append(RunSource(file, run, file if format is None else f"the log {file.resolve()}"))
        yield runs


def dataset_of(runs: list[Path], given: Path | None, logs: LogOptions) -> Path | None:
    """Return the dataset of runs whose ids must be looked up: the given one, or the folder that they lie in."""
    if given is not None or not logs.given():
        return given
    from graphkit.files.dataset import Dataset

    folders = list(dict.fromkeys(Dataset.of_run(run).folder for run in runs))
    if len(folders) > 1:
        raise InputError(
            f"the runs lie in several datasets: {', '.join(map(str, folders))}",
            remedy="Evaluate those of one dataset, or name it by --dataset.",
        )
    return folders[0]
