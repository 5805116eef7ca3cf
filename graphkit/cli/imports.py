"""``graphkit import`` with a command for each format: the module has another name, for Python keeps that one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from graphkit.cli.base import Commands, as_json, print_json, print_line, say, with_json
from graphkit.cli.import_gold import import_gold
from graphkit.cli.options import (
    ChunksOnlyOption,
    ColumnsOption,
    CommitOption,
    IdPatternOption,
    IdsOption,
    ParquetOption,
    QuestionKeyOption,
    QuestionOption,
    assignment,
)
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


def columns_value(text: str | None) -> tuple[str, str, str] | None:
    """Return the three columns that ``--columns`` names."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 3 or not all(names):
        raise InputError(f"--columns takes source, relation and target with commas, not {text!r}")
    return names[0], names[1], names[2]


def commit_values(texts: list[str] | None) -> dict[str, str]:
    """Return the commits that ``--commit`` names."""
    return dict(assignment("--commit", text) for text in texts or [])


@contextmanager
def as_runs(
    files: list[Path],
    format: str | None,  # noqa: A002
    dataset: Path | None,
    options: Mapping[str, Any],
) -> Iterator[list[Path]]:
    """Yield the runs of logs, imported into a temporary folder; the files themselves where no format is named."""
    if format is None:
        if given := [name for name, value in options.items() if value]:
            raise InputError(
                f"--{given[0].replace('_', '-')} is for logs of others",
                remedy="Name what wrote them: --format auto, or the name of a format.",
            )
        yield files
        return
    if dataset is None:
        raise InputError("a log doesn't lie beside its questions", remedy="Name the dataset by --dataset.")
    from graphkit.imports.importer import import_log, run_name_of

    with TemporaryDirectory(prefix="graphkit-") as folder:
        runs = []
        for number, file in enumerate(files):
            run = Path(folder) / str(number) / f"{run_name_of(file)}.jsonl"
            run.parent.mkdir()
            for line in import_log(file, format, dataset, out=run, **imported_by(options)).told:
                say(line)
            runs.append(run)
        yield runs


def imported_by(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of the command line as those of the library."""
    return {
        **{name: value for name, value in options.items() if name != "commit"},
        "columns": columns_value(options["columns"]),
        "commits": commit_values(options["commit"]),
    }


def _command(format: str) -> Callable[..., None]:  # noqa: A002
    @with_json
    def command(
        files: FilesArgument,
        dataset: Annotated[Path, typer.Option("--dataset", "-d", metavar="DIR", help="Whose questions it answers.")],
        out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN.jsonl", help="The run.")],
        ids: IdsOption = None,
        id_pattern: IdPatternOption = None,
        question: QuestionOption = None,
        question_key: QuestionKeyOption = None,
        columns: ColumnsOption = None,
        chunks_only: ChunksOnlyOption = False,
        parquet: ParquetOption = None,
        commit: CommitOption = None,
        run: Annotated[
            str | None, typer.Option("--run", metavar="NAME", help="[default: the name of its file]")
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    ) -> None:
        from graphkit.imports.importer import import_log

        options = {
            "ids": ids,
            "id_pattern": id_pattern,
            "question": question,
            "question_key": question_key,
            "columns": columns,
            "chunks_only": chunks_only,
            "parquet": parquet,
            "commit": commit,
        }
        made = import_log(files, format, dataset, out=out, run=run, replace=force, **imported_by(options))
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
