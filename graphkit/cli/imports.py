"""``graphkit import`` with a command for each format (``import`` is a keyword, so the module has another name)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import (
    ExtendedCommands,
    argument,
    command,
    group,
    made_command,
    option,
    present,
    print_problems,
    say,
)
from graphkit.cli.options import (
    NEW_RUN,
    NEW_RUN_DATASET,
    NEW_RUN_NAME,
    ON_ERROR,
    REPLACE_FILE,
    AutoLogOptions,
    ExecutorOptions,
    LogOptions,
    OnError,
)
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.files.run_files import RunSource
    from graphkit.imports.importer import ImportedLog
    from graphkit.records.scores import Score

#: The options of an import that graphkit's own records accept as well, without a format.
OF_OWN_RECORDS = ("--ids", "--id-pattern", "--commit", "--map", "--line")

# Both are required, but only of what is no run already.
DATASET = dataclasses.replace(NEW_RUN_DATASET, default=None)
OUT = dataclasses.replace(NEW_RUN, default=None)

FILES = argument("FILE...", "Read these logs (also .gz and .zst), folders of logs, or patterns.")


def formats() -> list[str]:
    """Return the names of the formats of logs whose plug-in is there."""
    from graphkit.readers.known_formats import formats

    return formats()


def registered() -> Collection[str]:
    """Return the names of all formats of logs."""
    from graphkit.readers.known_formats import installed

    return installed()


class FormatCommands(ExtendedCommands):
    """The commands of ``graphkit import``; those of formats are made on demand, since listing readers takes time."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return [*dict.fromkeys(["auto", *formats(), *super().list_commands(ctx)])]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command, or None if there is none of this name."""
        if name in self.commands or name not in ("auto", *registered()):
            return super().get_command(ctx, name)
        title = "Recognise the format of each file." if name == "auto" else _title(name)
        return made_command(name, _importing(name), help=f"Import logs. {title}", short_help=title)


imports = group("Make runs from what libraries and agents log.", FormatCommands)


def _title(format: str) -> str:  # noqa: A002
    """Return what the reader of a format reads."""
    from graphkit.readers.known_formats import reader_of

    try:
        return reader_of(format).title
    except InputError:  # importing this format reports why its reader can't be loaded
        return f"Import logs of {format}."


def _importing(format: str) -> Callable[..., None]:  # noqa: A002
    def run_import(
        *,
        files: list[Path] = FILES,
        dataset: Path | None = DATASET,
        out: Path | None = OUT,
        logs: LogOptions,
        run: str | None = NEW_RUN_NAME,
        force: bool = REPLACE_FILE,
        strict: bool = option("--strict", "Refuse a log with fields that aren't read."),
        on_error: OnError = ON_ERROR,
        workers: ExecutorOptions,
    ) -> None:
        from graphkit.cli.progress import shown_progress
        from graphkit.imports.importer import import_log, paths_of, refuse_runs
        from graphkit.imports.mappings import mappings
        from graphkit.readers.known_formats import refuse_other
        from graphkit.readers.logged import UnrecognisedLogError

        files, resources = paths_of(files), workers.reserved()
        if format == "auto" and not [one for one in logs.given() if one != "--yes"]:
            refuse_runs(files, dataset, on_error)
        for what, value in (("--dataset", dataset), ("--out", out)):
            if value is None:
                remedy = f"graphkit import {format} FILE... --dataset DIR -o DIR/runs/NAME.jsonl"
                raise InputError(f"the option {what} is missing", remedy=remedy)
        more = {**logs.keywords(), "on_error": on_error, "executor": workers.on, "resources": resources}
        more |= {"out": out, "run": run, "replace": force, "strict": strict}
        with shown_progress(f"importing {counted(len(files), 'log')}"):
            try:
                made = import_log(files, format, dataset or ".", **more)
            except UnrecognisedLogError as error:
                ignored = [*error.details, *(one for file in files for one in refuse_other(file))]
                if not isinstance(logs, AutoLogOptions) or logs.map or logs.line:
                    raise
                for one in dict.fromkeys(ignored):
                    say(f"note: {one}")
                more["map"] = mappings("a log of another form").accepted(
                    error, files, dataset or Path(), logs, on_error
                )
                made = import_log(files, format, dataset or ".", **more)
            kept = _keep_scores(made, [*_graded(made, files, dataset), *made.scores])
        print_problems(made.problems)
        lines = [*made.summary, *(f"{name}: {file}" for name, file in made.runs), *kept]
        present(lines, {"run": made.run, "file": str(out), **made.figures})

    run_import.__annotations__["logs"] = AutoLogOptions if format == "auto" else LogOptions
    return command()(run_import)


def _graded(made: ImportedLog, files: Sequence[Path], dataset: Path | None) -> list[Score]:
    """Return the grades that a person wrote into graphkit's own records of one run."""
    from graphkit.files.dataset import Dataset
    from graphkit.files.person_grades import is_graded, logged_grades
    from graphkit.files.problems import Problems

    source = Dataset.of(dataset or ".")
    graded = [file for file in files if is_graded(file)] if len(made.runs) == 1 else []
    if not graded:
        return []
    asked, skipped = {one.id for one in source.every_question()}, Problems("skip")
    found = [logged_grades(file, skipped, run=made.run, questions=source.questions_file) for file in graded]
    return [one for grades in found for one in grades if one.question in asked]


def _keep_scores(made: ImportedLog, scores: Sequence[Score]) -> list[str]:
    """Write the scores that a log holds beside its runs, and return what they are for."""
    from graphkit.files.assets import command_text, option_text
    from graphkit.files.grades_beside import SCORES, file_beside
    from graphkit.files.score_files import write_scores
    from graphkit.imports.trials import LOG
    from graphkit.records.scores import PERSON

    lines = []
    for name, file in made.runs:
        for grader in (LOG, PERSON):
            own = [one for one in scores if (one.run, one.grader) == (name, grader)]
            if own and file is not None:
                path = file_beside(file, grader, f"{SCORES}.jsonl")
                path.parent.mkdir(exist_ok=True)
                write_scores(path, own)
                gated = command_text("evaluate", file, options=option_text("scores", path))
                lines.append(f"{counted(len(own), 'score')} of {name} by {grader}: `{gated}` reads them")
    return lines


def _tables(files: Sequence[Path], dataset: Path | None) -> bool:
    """Return whether runs are tables, which are read as records first.

    Raises
    ------
    InputError
        A file is one JSON document, and so no run.
    """
    from graphkit.files.assets import command_text, option_text
    from graphkit.files.intake import is_pipe
    from graphkit.imports.mappings import is_log_table
    from graphkit.imports.sources import is_document

    held = [file for file in files if file.is_file() and not is_pipe(file)]
    for file in held:
        if not is_log_table(file) and is_document(file):
            again = command_text(
                "import auto", file, options=option_text("dataset", dataset or "DIR") + " -o RUN.jsonl"
            )
            what = "this is one JSON document, and a run has a record on each line"
            raise InputError(what, where=str(file), remedy=f"`{again}` finds the fields of any log by their values.")
    return any(map(is_log_table, held))


@contextmanager
def as_runs(
    files: list[Path],
    format: str | None,  # noqa: A002
    given: Path | None,
    logs: LogOptions,
    on_error: OnError = "fail",
    run: str | None = None,
    *,
    in_shards: bool = False,
) -> Iterator[tuple[list[RunSource], Path | None]]:
    """Yield the runs and their dataset; logs of other tools, and runs whose ids must be looked up, are imported.

    The questions may be shards if what follows works ``in_shards``.
    """
    from graphkit.files.dataset import Dataset
    from graphkit.files.run_files import RunSource

    if format is None:
        if others := [option for option in logs.given() if option not in OF_OWN_RECORDS]:
            raise InputError(
                f"{others[0]} is for logs of other tools",
                remedy="Name what wrote them: --format auto, or the name of a format.",
            )
        from graphkit.files.run_files import has_trials

        if not (logs.given() or _tables(files, given) or any(map(has_trials, files))):
            from graphkit.readers.known_formats import unnamed_format

            for file in files:
                if (named := unnamed_format(file)) is not None:
                    say(f"note: {file} looks like a log of {named}: --format {named} reads it")
            yield [RunSource(file, file) for file in files], given
            return
    elif given is None:
        raise InputError("a log needs the dataset of its questions", remedy="Name the dataset by --dataset.")
    from graphkit.imports.imported_runs import imported_runs
    from graphkit.scoring.sharded_dataset import dataset_for_logs

    options = {**logs.keywords(), "on_error": on_error, "as_is": not logs.given() and format is None}
    with ExitStack() as stack:
        found = stack.enter_context(dataset_for_logs(files[0], given)) if in_shards else None
        dataset = found or (Dataset.of_runs(files) if given is None else given)
        options |= {"run_name": run, "notify": say, "on_problems": print_problems}
        runs = stack.enter_context(imported_runs(files, dataset, format, **options))
        folder = given or Path(dataset.given if isinstance(dataset, Dataset) else dataset)
        yield [one._replace(options=_reading(format, logs)) for one in runs], folder


def _reading(format: str | None, logs: LogOptions) -> str:  # noqa: A002
    """Return the options by which a log is read again, but for those that convert names to ids."""
    from graphkit.files.assets import option_text

    named = "" if format is None else option_text("format", format)
    return named + dataclasses.replace(logs, ids=None, id_pattern=None).typed()
