"""``graphkit import`` with a command for each format: the module has another name, for Python keeps that one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from graphkit.cli.base import Commands, as_json, print_json, print_line, say, with_json
from graphkit.cli.import_gold import import_gold
from graphkit.cli.import_graph import import_graph
from graphkit.cli.options import LogOptions, with_log_options
from graphkit.errors import InputError

#: The formats, which stand here again because reading them there would make help slow to show; a test holds them equal.
FORMATS = (
    "inspect",
    "atif",
    "openinference",
    "otel",
    "graphrag",
    "lightrag",
    "neo4j-graphrag",
    "llama-index",
    "langchain",
    "ragas",
    "messages",
    "beir",
    "trec",
)

imports = typer.Typer(
    cls=Commands,
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
    """Yield each log with its run, imported into a temporary folder; with itself where no format is named."""
    if format is None:
        if given := how.given():
            raise InputError(
                f"{given[0]} is for logs of others",
                remedy="Name what wrote them: --format auto, or the name of a format.",
            )
        yield [(file, file) for file in files]
        return
    if dataset is None:
        raise InputError("a log doesn't lie beside its questions", remedy="Name the dataset by --dataset.")
    from graphkit.imports.importer import import_log, run_name_of

    with TemporaryDirectory(prefix="graphkit-") as folder:
        runs = []
        for number, file in enumerate(files):
            run = Path(folder) / str(number) / f"{run_name_of(file)}.jsonl"
            run.parent.mkdir()
            for line in import_log(file, format, dataset, out=run, **how.of_library()).told:
                say(line)
            runs.append((file, run))
        yield runs


def _command(format: str) -> Callable[..., None]:  # noqa: A002
    @with_json
    @with_log_options
    def command(
        files: FilesArgument,
        dataset: Annotated[Path, typer.Option("--dataset", "-d", metavar="DIR", help="Whose questions it answers.")],
        out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN.jsonl", help="The run.")],
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


for name in ("auto", *FORMATS):
    what = "Import logs of whichever format, each recognised by its content." if name == "auto" else None
    imports.command(name, help=what or f"Import what {name} logs.")(_command(name))
imports.command("gold")(import_gold)
imports.command("graph")(import_graph)
