"""Files of executions: JSON Lines, one answer's code per line, beside their run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphkit.files.atomic import write_records
from graphkit.files.problems import Problems
from graphkit.files.reading import each_once, read_records
from graphkit.plugins.sandbox.executions import Execution

#: The ending of the names of files of executions beside a run.
EXECUTIONS = ".executions"


def read_executions(files: Iterable[str | Path], problems: Problems) -> list[Execution]:
    """Return the executions of some files; a second one of a run's answer to a question is a problem.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped.
    """
    return each_once(
        (found for path in files for found in read_records(Path(path), Execution, problems)),
        lambda one: (one.run, one.question),
        lambda one: f"{one.run} already has an execution for this question",
        problems,
    )


def write_executions(path: Path, executions: Iterable[Execution]) -> None:
    """Write executions, one per line; the file appears complete, or not at all.

    Raises
    ------
    InputError
        The file can't be written.
    """
    write_records(path, executions)
