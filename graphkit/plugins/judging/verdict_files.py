"""Files of verdicts: JSON Lines, one verdict per line, beside their run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.atomic import write_records
from graphkit.files.problems import Problems
from graphkit.files.reading import each_once, read_records
from graphkit.plugins.judging.verdicts import Verdict

#: The ending of the names of files of verdicts beside a run.
VERDICTS = ".verdicts"


def read_verdicts(files: Iterable[str | Path], problems: Problems) -> list[Verdict]:
    """Return the verdicts of some files; a second one of a judge's model on an answer by a grader is a problem.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped.
    """
    return each_once(
        (found for path in files for found in read_records(Path(path), Verdict, problems)),
        lambda one: (one.run, one.question, one.judge, one.model, one.grader),
        lambda one: f"{one.judge} already judged this answer of {one.run} by {one.grader}",
        problems,
    )


def clashing(files: Sequence[Path]) -> list[Path]:
    """Return the files that hold a verdict of the same judge on the same answer by the same grader as another file.

    Unreadable files aren't among them; their reader reports them.
    """
    by_answer: dict[tuple[str, str, str, str], list[Path]] = {}
    for path in files if len(files) > 1 else ():
        with contextlib.suppress(InputError):
            for one in read_verdicts([path], Problems("skip")):
                by_answer.setdefault((one.run, one.question, one.judge, one.grader), []).append(path)
    both = {path for paths in by_answer.values() if len(paths) > 1 for path in paths}
    return [path for path in files if path in both]


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts, one per line; the file appears complete, or not at all.

    Raises
    ------
    InputError
        The file can't be written.
    """
    write_records(path, verdicts)
