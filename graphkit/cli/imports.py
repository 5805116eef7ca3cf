"""``graphkit import`` with a command for each format: the module has another name, for Python keeps that one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from graphkit.cli.base import Commands, Writes, as_json, print_json, print_line, say, with_json
from graphkit.cli.import_gold import import_gold
from graphkit.cli.import_graph import import_graph
from graphkit.cli.options import LogOptions, with_log_options
from graphkit.errors import InputError

#: The options of an import that graphkit's own records take as well, without a format.
OF_OWN_RECORDS = ("--ids", "--id-pattern", "--commit")


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
        what = "Import logs and recognise the format of each file." if name == "auto" else f"Import logs of {name}."
        one = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        one.command(name, help=what)(_command(name))
        return typer.main.get_command(one)


imports = typer.Typer(
    cls=FormatCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make runs of what libraries and agents log: no code, and no dependency on them.",
)

FilesArgument = Annotated[list[Path], typer.Argument(metavar="FILE...", help="The log (also .gz and .zst).")]


@contextmanager
def as_runs(
    files: list[Path],
    format: str | None,  # noqa: A002
    dataset: Path | None,
    how: LogOptions,
) -> Iterator[list[tuple[Path, Path]]]:
    """Yield each log with its run, imported into a temporary folder; with itself where nothing has to be imported.

    Runs of graphkit's own are imported where their ids have to be looked up.
    """
    if format is None:
        if others := [option for option in how.given() if option not in OF_OWN_RECORDS]:
            raise InputError(
                f"{others[0]} is for logs of others",
                remedy="Name what wrote them: --format auto, or the name of a format.",
            )
        if not how.given():
            yield [(file, file) for file in files]
            return
    if dataset is None:
        raise InputError("a log doesn't lie beside its questions", remedy="Name the dataset by --dataset.")
    from graphkit.files.leftovers import held_folder
    from graphkit.files.run_files import first_run
    from graphkit.imports.importer import import_log, run_name_of

    with held_folder() as folder:
        runs = []
        for number, file in enumerate(files):
            run = folder / str(number) / f"{run_name_of(file)}.jsonl"
            run.parent.mkdir()
            name = first_run(file) if format is None else None
            read_as = "graphkit" if format is None else format
            for line in import_log(file, read_as, dataset, out=run, run=name, **how.of_library()).told:
                say(line)
            runs.append((file, run))
        yield runs


def dataset_of(runs: list[Path], given: Path | None, how: LogOptions) -> Path | None:
    """Return the dataset of runs whose ids have to be looked up: the given one, else that which they lie in.

    Raises
    ------
    InputError
        They lie in several.
    """
    if given is not None or not how.given():
        return given
    from graphkit.files.dataset import Dataset

    folders = list(dict.fromkeys(Dataset.of_run(run).folder for run in runs))
    if len(folders) > 1:
        raise InputError(
            f"the runs lie in several datasets: {', '.join(map(str, folders))}",
            remedy="Evaluate those of one dataset, or name it by --dataset.",
        )
    return folders[0]


def _command(format: str) -> Callable[..., None]:  # noqa: A002
    @with_json
    @with_log_options
    def command(
        files: FilesArgument,
        dataset: Annotated[Path, typer.Option("--dataset", "-d", metavar="DIR", help="Whose questions it answers.")],
        out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN.jsonl", help="The run."), Writes("a run")],
        how: LogOptions,
        run: Annotated[
            str | None, typer.Option("--run", metavar="NAME", help="[default: the name of its file]")
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
        strict: Annotated[bool, typer.Option("--strict", help="Refuse a log with fields that aren't read.")] = False,
    ) -> None:
        from graphkit.imports.importer import import_log

        made = import_log(files, format, dataset, out=out, run=run, replace=force, strict=strict, **how.of_library())
        if as_json():
            print_json({"run": made.run, "file": str(out), **made.figures})
            return
        for line in made.told:
            print_line(line)
        print_line(f"{made.run}: {out}")

    return command


imports.command("gold")(import_gold)
imports.command("graph")(import_graph)
