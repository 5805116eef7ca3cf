"""Logs of other tools as runs in a temporary folder, for an evaluation without an import before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphkit.files.dataset import Dataset
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problems
from graphkit.files.run_files import RunSource, first_run
from graphkit.imports.importer import import_log, run_name_of
from graphkit.imports.mappings import is_log_table, mappings

#: The format of graphkit's own records.
OWN = "graphkit"


@contextmanager
def imported_runs(
    files: Sequence[Path],
    dataset: str | Path | Dataset,
    format: str | None = None,  # noqa: A002
    *,
    run_name: str | None = None,
    notify: Callable[[str], None] = lambda _: None,
    on_problems: Callable[[Problems], None] = lambda _: None,
    **options: Any,
) -> Iterator[list[RunSource]]:
    """Yield each log as a run of a dataset, imported into a temporary folder that lasts as long as the context.

    Parameters
    ----------
    format
        The format of the logs, or ``auto``. None means graphkit's own records, whose names are converted to ids.
    run_name
        The name of the run, whatever the log says; each of several trials of a question is a repetition of it.
    notify
        Called with each line that summarises an import.
    on_problems
        Called with the skipped records of each log.
    options
        Fields of :class:`graphkit.imports.importer.ImportOptions`.

    Raises
    ------
    InputError
        A log or the dataset can't be used.
    """
    with held_folder() as folder:
        runs = []
        for number, file in enumerate(files):
            run = folder / str(number) / f"{run_name_of(file)}.jsonl"
            run.parent.mkdir()
            name = run_name
            if name is None and format is None and not options.get("map"):
                name = mappings("a table").run_of_table(file) if is_log_table(file) else first_run(file)
            made = import_log(file, format or OWN, dataset, out=run, run=name, **options)
            on_problems(made.problems)
            for line in made.summary if not options.get("as_is") else ():
                notify(line)
            whole = format is None and not options.get("map") and len(made.runs) == 1
            origin = file if whole else f"the log {file.resolve()}"
            for own_name, made_file in made.runs:
                own = tuple(one for one in made.scores if one.run == own_name)
                runs.append(RunSource(file, made_file or run, origin, own))
        yield runs
